//! The code on a page of the documents.

/// Returns the code blocks of a page in a language, in order.
pub(crate) fn blocks<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let opening = format!("\n```{language}\n");
    let after = page.split(opening.as_str()).skip(1);
    after.map(|rest| rest.split_once("\n```").expect("the end of a block").0).collect()
}

/// Returns the one block in a language that contains this.
pub(crate) fn block<'a>(page: &'a str, language: &str, with: &str) -> &'a str {
    let mut found = blocks(page, language);
    found.retain(|text| text.contains(with));
    assert_eq!(found.len(), 1, "{language} with {with:?}: {found:?}");
    found[0]
}
