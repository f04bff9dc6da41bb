//! README and guide name the strategies of the table, and no others.

use raddle_explore::{Kind, Models, Row, Strategy};

const README: &str = include_str!("../../../../README.md");
const GUIDE: &str = include_str!("../../../../docs/guide.md");

/// Returns the list of the rows for which `is_listed` holds, as it is in the guide.
fn list(is_listed: impl Fn(&Row) -> bool) -> String {
    let mut list = String::from(
        "| word | what it runs | when to use it | memory model |\n| --- | --- | --- | --- |\n",
    );
    for row in Strategy::table().iter().filter(|row| is_listed(row)) {
        let Row { pattern, summary, use_case, .. } = row;
        let memory = match row.memory {
            Models::All => "all",
            Models::Sc => "`sc`",
            Models::Rc11 => "`rc11`",
        };
        list += &format!("| `{pattern}` | {summary} | {use_case} | {memory} |\n");
    }
    list
}

#[test]
fn the_guide_lists_every_strategy() {
    let samples = |row: &Row| row.kind() == Kind::Sampler || row.pattern.starts_with("portfolio:");
    let lists = [list(|row| !samples(row)), list(samples)];
    for list in &lists {
        assert!(GUIDE.contains(list), "docs/guide.md must contain this table:\n{list}");
    }
    let listed: usize = lists.iter().map(|list| list.lines().count() - 2).sum();
    assert_eq!(listed, Strategy::table().len());
}

/// Checks the words in the first column of the table.
#[test]
fn the_readme_lists_strategies_that_exist() {
    let section = README.split("\n## ").find(|section| section.starts_with("Strategies\n"));
    let section = section.expect("README.md has a section `Strategies`");
    let words: Vec<&str> =
        section.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    assert!(words.len() >= 4, "{words:?}");
    for word in words {
        assert!(word.parse::<Strategy>().is_ok(), "{word}");
    }
}

#[test]
fn examples_name_strategies_that_exist() {
    let mut found = 0;
    for text in [README, GUIDE] {
        for setting in ["strategy = \"", "strategy(\"", "RADDLE_STRATEGY="] {
            for rest in text.split(setting).skip(1) {
                let is_word = |letter: char| letter.is_alphanumeric() || ":+-".contains(letter);
                let word = rest.split(|letter| !is_word(letter)).next().unwrap_or_default();
                assert!(word.parse::<Strategy>().is_ok(), "{setting}{word}");
                found += 1;
            }
        }
    }
    assert!(found > 5, "{found}");
}
