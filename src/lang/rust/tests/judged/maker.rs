//! A derive macro that makes an enum of an enum, and functions of what stands in attributes, as code and as text.

extern crate proc_macro;

use proc_macro::{Delimiter, Group, TokenStream, TokenTree};

#[proc_macro_derive(Tags, attributes(check, call))]
pub fn tags(input: TokenStream) -> TokenStream {
    let all: Vec<TokenTree> = input.into_iter().collect();
    let at = all.iter().position(|it| it.to_string() == "enum").unwrap();
    let (name, TokenTree::Group(body)) = (&all[at + 1], &all[all.len() - 1]) else { panic!("no enum") };
    let variants: Vec<String> = body.stream().into_iter().map(|it| it.to_string()).collect();
    let mut made: TokenStream = format!("pub enum {name}Tag {{ {} }}", variants.concat()).parse().unwrap();
    for it in &all[..at] {
        let TokenTree::Group(attribute) = it else { continue };
        let mut inside = attribute.stream().into_iter();
        let (Some(word), Some(TokenTree::Group(code))) = (inside.next(), inside.next()) else { continue };
        let word = word.to_string();
        let value: TokenStream = match word.as_str() {
            "check" => code.stream(),
            "call" => {
                let text = code.stream().into_iter().next().unwrap();
                let path: TokenStream = text.to_string().trim_matches('"').parse().unwrap();
                let told = path.into_iter().map(|mut it| {
                    it.set_span(text.span());
                    it
                });
                let mut call: TokenStream = told.collect();
                call.extend([TokenTree::Group(Group::new(Delimiter::Parenthesis, TokenStream::new()))]);
                call
            }
            _ => continue,
        };
        let mut body: TokenStream = "let _: u8 =".parse().unwrap();
        body.extend([TokenTree::Group(Group::new(Delimiter::Parenthesis, value))]);
        body.extend(";".parse::<TokenStream>().unwrap());
        made.extend(format!("fn {word}()").parse::<TokenStream>().unwrap());
        made.extend([TokenTree::Group(Group::new(Delimiter::Brace, body))]);
    }
    made
}
