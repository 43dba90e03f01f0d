//! Which of the known names a wrong one was meant to be.

/// "; did you mean `carrier`?" when a known name is near enough, else nothing.
pub fn did_you_mean<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> String {
    let near = known.into_iter().map(|name| (distance(word, name), name)).min();
    let near = near.filter(|(edits, name)| *edits <= 1 + name.chars().count() / 4);
    near.map(|(_, name)| format!("; did you mean `{name}`?")).unwrap_or_default()
}

/// Edits from one to the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let edited = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = edited.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_name_is_proposed_and_a_far_one_is_not() {
        let known = ["carrier", "door", "slow"];
        assert_eq!(did_you_mean("carier", known), "; did you mean `carrier`?");
        assert_eq!(did_you_mean("dor", known), "; did you mean `door`?");
        assert_eq!(did_you_mean("warehouse", known), "");
        assert_eq!(did_you_mean("x", []), "");
    }
}
