//! Reads chronicles from tables of document frequencies.
//!
//! A directory contains `df.parquet` (`site_id`, `word`, `df`: a list with one number per week) and
//! `weeks.parquet` (`site_id`, `week`, `pages`, `vocabulary`). Names are taken from `sites.parquet`
//! (`site_id`, `name`) in the same directory or its parent, if it exists.
//!
//! # Promises
//! - A file with another form or damage is an error that names the file, and the column if there is one.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Int16Type, Int32Type, Int64Type};
use arrow_array::{Array as _, ArrayRef, RecordBatch, StringArray};
use arrow_schema::DataType;
use freshet_store::foreign_parquet::table::ForeignTable;

use super::chronicle::Chronicle;
use crate::error::TextError;

/// Maximum number of weeks of a table.
const WEEKS_MAX: usize = 5_000;

/// Reads all chronicles of a directory, ordered by site id.
pub fn read_tables(directory: &Path) -> Result<Vec<Chronicle>, TextError> {
    let names = names(directory);
    let mut chronicles: BTreeMap<i64, Chronicle> = BTreeMap::new();
    read(&directory.join("df.parquet"), |batch| {
        let (sites, lists) = (numbers(batch, "site_id")?, lists(batch)?);
        for (row, site) in sites.into_iter().enumerate() {
            let values = lists.value(row);
            let values = whole_numbers(&values, "df")?;
            let chronicle = chronicles.entry(site).or_insert_with(|| new(site, &names, values.len()));
            if values.len() != chronicle.weeks() || values.is_empty() || WEEKS_MAX < values.len() {
                return Err(format!(
                    "column `df`: a list of {} weeks among others of {}",
                    values.len(),
                    chronicle.weeks()
                ));
            }
            for (week, value) in values.into_iter().enumerate() {
                chronicle.frequencies[week].push(value.max(0) as f32);
            }
        }
        Ok(())
    })?;
    read(&directory.join("weeks.parquet"), |batch| {
        let columns = [
            numbers(batch, "site_id")?,
            numbers(batch, "week")?,
            numbers(batch, "pages")?,
            numbers(batch, "vocabulary")?,
        ];
        let [sites, weeks, pages, vocabularies] = &columns;
        let rows = sites.iter().zip(weeks).zip(pages.iter().zip(vocabularies));
        for ((site, week), (pages, vocabulary)) in rows {
            let Some(chronicle) = chronicles.get_mut(site) else { continue };
            if let Some(place) = usize::try_from(*week).ok().filter(|week| *week < chronicle.weeks()) {
                chronicle.documents[place] = (*pages).max(1) as f64;
                chronicle.vocabulary[place] = (*vocabulary).max(1) as f64;
            }
        }
        Ok(())
    })?;
    if chronicles.is_empty() {
        return Err(TextError::TooLittle(format!("{} tells of no database", directory.display())));
    }
    Ok(chronicles.into_values().collect())
}

fn new(site: i64, names: &BTreeMap<i64, String>, weeks: usize) -> Chronicle {
    let weeks = weeks.min(WEEKS_MAX);
    Chronicle {
        name: names.get(&site).cloned().unwrap_or_else(|| format!("site {site}")),
        stratum: "misc".to_owned(),
        documents: vec![1.0; weeks],
        vocabulary: vec![1.0; weeks],
        frequencies: vec![Vec::new(); weeks],
    }
}

/// The names of sites. Unreadable names are treated as unknown.
fn names(directory: &Path) -> BTreeMap<i64, String> {
    let mut names = BTreeMap::new();
    for place in [Some(directory), directory.parent()].into_iter().flatten() {
        let _ = read(&place.join("sites.parquet"), |batch| {
            let sites = numbers(batch, "site_id")?;
            let texts = column(batch, "name")?;
            let texts: &StringArray = texts.as_string_opt().ok_or("column `name` is not text")?;
            names.extend(sites.into_iter().zip(texts.iter().map(|name| name.unwrap_or_default().to_owned())));
            Ok(())
        });
    }
    names
}

fn read(path: &Path, mut take: impl FnMut(&RecordBatch) -> Result<(), String>) -> Result<(), TextError> {
    let file = File::open(path).map_err(TextError::file("open", path))?;
    let damaged = |why: &dyn std::fmt::Display| TextError::damaged(path, why.to_string());
    let table = ForeignTable::open(file).map_err(|error| damaged(&error))?;
    let columns = 0..table.schema().fields().len();
    for batch in table.batches(columns, 8192).map_err(|error| damaged(&error))? {
        take(&batch.map_err(|error| damaged(&error))?).map_err(|why| damaged(&why))?;
    }
    Ok(())
}

fn column<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a ArrayRef, String> {
    batch.column_by_name(name).ok_or_else(|| format!("it has no column `{name}`"))
}

fn numbers(batch: &RecordBatch, name: &str) -> Result<Vec<i64>, String> {
    whole_numbers(column(batch, name)?, name)
}

fn whole_numbers(array: &ArrayRef, name: &str) -> Result<Vec<i64>, String> {
    if array.null_count() > 0 {
        return Err(format!("column `{name}` has empty places"));
    }
    match array.data_type() {
        DataType::Int16 => {
            Ok(array.as_primitive::<Int16Type>().values().iter().map(|n| i64::from(*n)).collect())
        }
        DataType::Int32 => {
            Ok(array.as_primitive::<Int32Type>().values().iter().map(|n| i64::from(*n)).collect())
        }
        DataType::Int64 => Ok(array.as_primitive::<Int64Type>().values().to_vec()),
        other => Err(format!("column `{name}` is of type {other}, not of whole numbers")),
    }
}

fn lists(batch: &RecordBatch) -> Result<&arrow_array::ListArray, String> {
    let lists = column(batch, "df")?.as_list_opt::<i32>().ok_or("column `df` is no list")?;
    if lists.null_count() > 0 { Err("column `df` has empty places".to_owned()) } else { Ok(lists) }
}
