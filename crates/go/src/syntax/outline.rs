//! The outline of a file: its declarations from the syntax tree, and its skeleton.

use tree_sitter::Node;

use super::comments::Comments;
use super::lexer::{ELIDED, one_line};
use super::parse::{Syntax, slice, span};
use super::skeleton::{self, Elision, splice};
use semdex_model::{Import, Outline, OutlineItem, Span, SymbolKind};

/// The maximum nesting of types; deeper ones are not expanded.
const MAX_DEPTH: usize = 60;

pub(crate) fn outline(text: &str) -> Outline {
    let syntax = Syntax::parse(text);
    let elisions: Vec<Elision> = syntax.roots().flat_map(|root| skeleton::elisions(text, root)).collect();
    let (skeleton, skeleton_lines) = skeleton::apply(text, &elisions);
    let reader = Reader { text, comments: Comments::of(text, syntax.roots()), elisions };
    let mut outline = Outline { skeleton, skeleton_lines, errors: syntax.errors(text), ..Outline::default() };
    for root in syntax.roots() {
        reader.read(root, &mut outline);
    }
    outline
}

pub(crate) struct Reader<'t> {
    pub text: &'t str,
    pub comments: Comments<'t>,
    /// The elisions of the skeleton; a signature has the same.
    pub elisions: Vec<Elision>,
}

/// The data that all declarations of one statement share.
struct Shared {
    signature: String,
    docs: Option<String>,
    span: Span,
}

impl Reader<'_> {
    pub(crate) fn read(&self, root: Node, outline: &mut Outline) {
        self.read_below(root, outline, 0);
    }

    fn read_below(&self, parent: Node, outline: &mut Outline, depth: usize) {
        let mut cursor = parent.walk();
        for node in parent.named_children(&mut cursor) {
            match node.kind() {
                "package_clause" if outline.docs.is_none() => {
                    outline.docs = self.comments.above(node.start_byte()).and_then(|it| self.comments.docs(it));
                }
                "import_declaration" => self.imports(node, outline),
                "function_declaration" | "method_declaration" => outline.items.extend(self.function(node)),
                "type_declaration" | "const_declaration" | "var_declaration" => self.group(node, outline),
                // An error node may contain whole declarations.
                "ERROR" if depth < MAX_DEPTH => self.read_below(node, outline, depth + 1),
                _ => {}
            }
        }
    }

    fn imports(&self, declaration: Node, outline: &mut Outline) {
        let mut cursor = declaration.walk();
        for node in declaration.named_children(&mut cursor) {
            match node.kind() {
                "import_spec" => {
                    let Some(path) = node.child_by_field_name("path") else { continue };
                    outline.imports.push(Import {
                        path: slice(self.text, path).trim_matches(['"', '`']).to_owned(),
                        alias: node.child_by_field_name("name").map(|it| slice(self.text, it).to_owned()),
                        span: span(node),
                        line: node.start_position().row + 1,
                    });
                }
                "import_spec_list" => self.imports(node, outline),
                _ => {}
            }
        }
    }

    fn function(&self, node: Node) -> Option<OutlineItem> {
        let name = node.child_by_field_name("name")?;
        let method = node.kind() == "method_declaration";
        let receiver = node.child_by_field_name("receiver").and_then(|it| first_parameter_type(it));
        let body = node.child_by_field_name("body");
        let head = Span::new(node.start_byte(), body.map_or(node.end_byte(), |it| it.start_byte()));
        let kind = if method { SymbolKind::Method } else { SymbolKind::Function };
        let container: Vec<String> =
            receiver.and_then(base_type).map(|it| slice(self.text, it).to_owned()).into_iter().collect();
        let group = self.comments.above(node.start_byte());
        let shared = Shared {
            signature: one_line(&self.text[head.start..head.end]),
            docs: group.and_then(|it| self.comments.docs(it)),
            span: Span::new(group.map_or(node.start_byte(), |it| it.start), node.end_byte()),
        };
        let mut item = self.item(kind, name, &container, &shared)?;
        item.body = body.and_then(|it| self.inside_braces(it));
        item.test = !method && self.is_test(&item.name, node);
        Some(item)
    }

    /// `func TestX(t *testing.T)` and similar functions, as `go test` recognises them.
    fn is_test(&self, name: &str, function: Node) -> bool {
        let Some(parameters) = function.child_by_field_name("parameters") else { return false };
        let takes = |testing: &[&str]| {
            let text = first_parameter_type(parameters).map(|it| slice(self.text, it)).unwrap_or_default();
            parameters.named_child_count() == 1 && testing.contains(&text)
        };
        if name == "TestMain" {
            return takes(&["*testing.M"]);
        }
        let starts = |prefix: &str| {
            name.strip_prefix(prefix).is_some_and(|rest| !rest.starts_with(|it: char| it.is_lowercase()))
        };
        (starts("Test") && takes(&["*testing.T"]))
            || (starts("Benchmark") && takes(&["*testing.B"]))
            || (starts("Fuzz") && takes(&["*testing.F"]))
            || (starts("Example")
                && parameters.named_child_count() == 0
                && function.child_by_field_name("result").is_none())
    }

    /// A `type`, `const` or `var` declaration with one spec, or with many in parentheses.
    fn group(&self, declaration: Node, outline: &mut Outline) {
        let keyword = declaration.kind().split('_').next().unwrap_or_default();
        let mut specs = Vec::new();
        let mut grouped = false;
        let mut cursor = declaration.walk();
        for node in declaration.children(&mut cursor) {
            match node.kind() {
                "(" => grouped = true,
                "var_spec_list" => {
                    grouped = true;
                    let mut inner = node.walk();
                    specs.extend(node.named_children(&mut inner));
                }
                _ => specs.push(node),
            }
        }
        specs.retain(|it| matches!(it.kind(), "type_spec" | "type_alias" | "const_spec" | "var_spec"));
        for &spec in &specs {
            let whole = if grouped { spec } else { declaration };
            let mut shared = self.shared(spec, whole);
            if shared.docs.is_none() && specs.len() == 1 {
                shared.docs = self.comments.above(declaration.start_byte()).and_then(|it| self.comments.docs(it));
            }
            shared.signature = format!("{keyword} {}", self.signature(spec));
            if keyword == "type" {
                outline.items.extend(self.defined_type(spec, &shared));
                continue;
            }
            let kind = if keyword == "const" { SymbolKind::Const } else { SymbolKind::Variable };
            outline.items.extend(self.names(spec).into_iter().filter_map(|name| self.item(kind, name, &[], &shared)));
        }
    }

    fn defined_type(&self, spec: Node, shared: &Shared) -> Option<OutlineItem> {
        let name = spec.child_by_field_name("name")?;
        let ty = spec.child_by_field_name("type");
        let kind = match ty.map(|it| it.kind()) {
            Some("struct_type") if spec.kind() == "type_spec" => SymbolKind::Struct,
            Some("interface_type") if spec.kind() == "type_spec" => SymbolKind::Interface,
            _ => SymbolKind::Type,
        };
        let mut item = self.item(kind, name, &[], shared)?;
        if let Some(ty) = ty {
            item.body = self.braces(ty).map(|it| Span::new(it.start + 1, it.end - 1));
            item.children = self.members(ty, &[item.name.clone()]);
        }
        Some(item)
    }

    /// The fields of a struct or the methods of an interface, anywhere in a type's text.
    fn members(&self, ty: Node, container: &[String]) -> Vec<OutlineItem> {
        let Some(composite) = composite(ty).filter(|_| container.len() < MAX_DEPTH) else { return Vec::new() };
        let list = field_list(composite).unwrap_or(composite);
        let mut items = Vec::new();
        let mut cursor = list.walk();
        for node in list.named_children(&mut cursor) {
            match node.kind() {
                "field_declaration" => self.fields(node, container, &mut items),
                "method_elem" => {
                    let shared = self.shared(node, node);
                    let name = node.child_by_field_name("name");
                    items.extend(name.and_then(|it| self.item(SymbolKind::Method, it, container, &shared)));
                }
                // An embedded interface. A union of types has no name.
                "type_elem" if node.named_child_count() == 1 => {
                    let shared = self.shared(node, node);
                    let name = node.named_child(0).filter(|it| it.kind() != "negated_type").and_then(base_type);
                    items.extend(name.and_then(|it| self.item(SymbolKind::Interface, it, container, &shared)));
                }
                _ => {}
            }
        }
        items
    }

    fn fields(&self, node: Node, container: &[String], items: &mut Vec<OutlineItem>) {
        let shared = self.shared(node, node);
        let ty = node.child_by_field_name("type");
        let names = self.names(node);
        if names.is_empty() {
            let name = ty.and_then(base_type);
            items.extend(name.and_then(|it| self.item(SymbolKind::Field, it, container, &shared)));
            return;
        }
        for name in names {
            let Some(mut item) = self.item(SymbolKind::Field, name, container, &shared) else { continue };
            if let Some(ty) = ty {
                let mut inner = container.to_vec();
                inner.push(item.name.clone());
                item.children = self.members(ty, &inner);
            }
            items.push(item);
        }
    }

    fn names<'tree>(&self, node: Node<'tree>) -> Vec<Node<'tree>> {
        let mut cursor = node.walk();
        node.children_by_field_name("name", &mut cursor).filter(|it| it.is_named()).collect()
    }

    /// Docs above, else after it on the same line; the span includes both.
    fn shared(&self, node: Node, whole: Node) -> Shared {
        let above = self.comments.above(whole.start_byte());
        let behind = self.comments.behind(whole.end_byte());
        let docs = above.and_then(|it| self.comments.docs(it));
        Shared {
            signature: self.signature(node),
            docs: docs.or_else(|| behind.and_then(|it| self.comments.docs(it))),
            span: Span::new(
                above.map_or(whole.start_byte(), |it| it.start),
                behind.map_or(whole.end_byte(), |it| it.end),
            ),
        }
    }

    /// One line: long values elided as in the skeleton, without the members of a type.
    fn signature(&self, node: Node) -> String {
        let mut elisions: Vec<Elision> = Vec::new();
        if let Some(braces) = node.child_by_field_name("type").and_then(composite).and_then(|it| self.braces(it)) {
            let inner = self.text.get(braces.start + 1..braces.end - 1).unwrap_or_default();
            let named = matches!(node.kind(), "type_spec" | "type_alias");
            if !inner.trim().is_empty() && (named || inner.contains('\n')) {
                elisions.push(Elision { span: braces, text: format!(" {{ {ELIDED} }}") });
            }
        }
        if let Some(value) = node.child_by_field_name("value") {
            let of_value = span(value);
            let from = self.elisions.partition_point(|it| it.span.start < of_value.start);
            let within = self.elisions.iter().skip(from).take_while(|it| of_value.encloses(it.span));
            elisions.extend(within.cloned());
        }
        let mut signature = one_line(&splice(self.text, span(node), &elisions));
        // In a skeleton the elision mark may directly follow the value.
        if self.text.get(node.end_byte()..).is_some_and(|it| it.trim_start_matches(' ').starts_with(ELIDED)) {
            signature.push_str(" …");
        }
        signature
    }

    fn item(&self, kind: SymbolKind, name: Node, container: &[String], shared: &Shared) -> Option<OutlineItem> {
        let text = slice(self.text, name);
        (!text.is_empty()).then(|| OutlineItem {
            kind,
            name: text.to_owned(),
            container: container.to_vec(),
            signature: shared.signature.clone(),
            docs: shared.docs.clone(),
            span: shared.span,
            name_span: span(name),
            body: None,
            public: text.starts_with(char::is_uppercase),
            test: false,
            children: Vec::new(),
        })
    }

    /// The span of a struct's or interface's members, with braces.
    fn braces(&self, ty: Node) -> Option<Span> {
        let ty = match ty.kind() {
            "struct_type" => field_list(ty)?,
            "interface_type" => ty,
            _ => return None,
        };
        let text = slice(self.text, ty);
        let open = text.find('{')?;
        (text.ends_with('}') && open + 1 < text.len()).then(|| Span::new(ty.start_byte() + open, ty.end_byte()))
    }

    fn inside_braces(&self, body: Node) -> Option<Span> {
        let text = slice(self.text, body);
        let start = body.start_byte() + text.starts_with('{').then_some(1)?;
        let closed = text.len() > 1 && text.ends_with('}');
        Some(Span::new(start, if closed { body.end_byte() - 1 } else { body.end_byte() }))
    }
}

fn field_list(ty: Node) -> Option<Node> {
    let mut cursor = ty.walk();
    ty.named_children(&mut cursor).find(|it| it.kind() == "field_declaration_list")
}

fn first_parameter_type(parameters: Node) -> Option<Node> {
    first_named(parameters)?.child_by_field_name("type")
}

/// The first named child that is not a comment.
fn first_named(node: Node) -> Option<Node> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).find(|it| it.kind() != "comment")
}

/// The name in a type: `Base` for `*pkg.Base[T]`.
fn base_type(mut ty: Node) -> Option<Node> {
    for _ in 0..MAX_DEPTH {
        ty = match ty.kind() {
            "type_identifier" => return Some(ty),
            "qualified_type" => ty.child_by_field_name("name")?,
            "generic_type" => ty.child_by_field_name("type")?,
            "pointer_type" | "parenthesized_type" => first_named(ty)?,
            _ => return None,
        };
    }
    None
}

/// The struct or interface that a type is, points to or contains.
fn composite(mut ty: Node) -> Option<Node> {
    for _ in 0..MAX_DEPTH {
        ty = match ty.kind() {
            "struct_type" | "interface_type" => return Some(ty),
            "slice_type" | "array_type" => ty.child_by_field_name("element")?,
            "map_type" | "channel_type" => ty.child_by_field_name("value")?,
            "pointer_type" | "parenthesized_type" => first_named(ty)?,
            _ => return None,
        };
    }
    None
}
