//! Until the names of policies are there.
use freshet_crawl::policy::Policy;
use freshet_crawl::policy::freshet::{Freshet, Objective, Settings};
use freshet_theory::units::Days;
use std::fmt;
use std::str::FromStr;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Form {
    Cycle,
    Steady,
}
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    pub cycle: Days,
    pub budget_share: f64,
    pub seed: u64,
}
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyName(Objective, Form);
impl PolicyName {
    pub fn all() -> Vec<Self> {
        [Objective::Changes, Objective::Mix, Objective::Fresh, Objective::Age]
            .map(|o| Self(o, Form::Cycle))
            .to_vec()
    }
    pub fn form(&self) -> Form {
        self.1
    }
    pub fn build(&self, setting: &Setting) -> Box<dyn Policy> {
        Box::new(Freshet::new(Settings {
            objective: self.0,
            budget_share: setting.budget_share,
            seed: setting.seed,
        }))
    }
}
impl FromStr for PolicyName {
    type Err = String;
    fn from_str(s: &str) -> Result<Self, String> {
        let (s, form) = match s.strip_suffix(":steady") {
            Some(s) => (s, Form::Steady),
            None => (s, Form::Cycle),
        };
        Ok(Self(
            match s {
                "freshet:changes" => Objective::Changes,
                "freshet" | "freshet:mix" => Objective::Mix,
                "freshet:fresh" => Objective::Fresh,
                "freshet:age" => Objective::Age,
                _ => return Err(format!("unknown policy `{s}`; there are: freshet")),
            },
            form,
        ))
    }
}
impl fmt::Display for PolicyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let o = format!("{:?}", self.0).to_lowercase();
        f.pad(&format!("freshet:{o}{}", if self.1 == Form::Steady { ":steady" } else { "" }))
    }
}
