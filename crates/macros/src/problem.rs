//! Errors in uses of the attribute.

use proc_macro::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};

/// A compile error: its location, and a message that says what to write instead.
pub(crate) struct Problem {
    span: Span,
    message: String,
}

impl Problem {
    pub(crate) fn new(span: Span, message: impl Into<String>) -> Problem {
        Problem { span, message: message.into() }
    }

    /// Returns a call of `compile_error` at the location.
    pub(crate) fn into_error(self) -> TokenStream {
        let message: TokenTree = Literal::string(&format!("raddle::test: {}", self.message)).into();
        let mut tokens: [TokenTree; 4] = [
            Ident::new("compile_error", self.span).into(),
            Punct::new('!', Spacing::Alone).into(),
            Group::new(Delimiter::Parenthesis, message.into()).into(),
            Punct::new(';', Spacing::Alone).into(),
        ];
        for token in &mut tokens {
            token.set_span(self.span);
        }
        tokens.into_iter().collect()
    }
}
