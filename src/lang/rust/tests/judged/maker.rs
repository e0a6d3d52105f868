//! A derive macro that makes an enum of an enum, and a function of what stands in an attribute.

extern crate proc_macro;

use proc_macro::{Delimiter, Group, TokenStream, TokenTree};

#[proc_macro_derive(Tags, attributes(check))]
pub fn tags(input: TokenStream) -> TokenStream {
    let all: Vec<TokenTree> = input.into_iter().collect();
    let at = all.iter().position(|it| it.to_string() == "enum").unwrap();
    let (name, TokenTree::Group(body)) = (&all[at + 1], &all[all.len() - 1]) else { panic!("no enum") };
    let variants: Vec<String> = body.stream().into_iter().map(|it| it.to_string()).collect();
    let mut made: TokenStream = format!("pub enum {name}Tag {{ {} }}", variants.concat()).parse().unwrap();
    for it in &all[..at] {
        let TokenTree::Group(attribute) = it else { continue };
        let mut inside = attribute.stream().into_iter();
        if let (Some(word), Some(TokenTree::Group(code))) = (inside.next(), inside.next())
            && word.to_string() == "check"
        {
            let mut body: TokenStream = "let _ =".parse().unwrap();
            body.extend([TokenTree::Group(Group::new(Delimiter::Parenthesis, code.stream()))]);
            body.extend(";".parse::<TokenStream>().unwrap());
            made.extend("fn check()".parse::<TokenStream>().unwrap());
            made.extend([TokenTree::Group(Group::new(Delimiter::Brace, body))]);
        }
    }
    made
}
