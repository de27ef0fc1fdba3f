# Makes a table of what a benchmark with gungraun prints: a name, then its counts line by line.
BEGIN {
  steps["steps"] = 10000
  steps["once"] = 1
  printf "| %-24s | %14s | %20s | %10s |\n", "step", "instructions", "instructions a step", "times exp"
  printf "| %s | %s | %s | %s |\n", dashes(24), dashes(14), dashes(20), dashes(10)
}
{ gsub(/\033\[[0-9;]*m/, "") }
/^[a-z_]+::/ {
  count = split($1, path, "::")
  name = path[count]
  split($2, id, ":")
}
$1 == "Instructions:" {
  split($2, counts, "|")
  each = counts[1] / steps[id[1]]
  if (name == "exp") exp_each = each
  printf "| %-24s | %14d | %20.1f | %10.1f |\n", name, counts[1], each, each / exp_each
}
function dashes(width,   line) {
  while (length(line) < width) line = line "-"
  return line
}
