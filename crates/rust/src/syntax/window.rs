//! The outline of a text of which an earlier state is known. Only the nodes around the difference are parsed, and
//! everything else is copied: most edits are small, and files are not.
//!
//! Why this is enough: a node that ends without an error ends with its own brace or semicolon, whatever follows it.
//! Text that is parsed by itself without an error is therefore parsed in the same way between such nodes. If an edit
//! affects a property of the whole file (its inner attributes and docs, which types are private), the whole file is
//! parsed.

use std::collections::BTreeSet;

use super::items::{hide_impls_of_private_types, is_private_type};
use super::nesting::too_deep;
use super::source::Source;
use super::{Rest, RestOf, imports, items, rest, skeleton};
use semdex_model::{Detail, Outline, OutlineItem, Span};

/// `None` if the whole file has to be parsed.
pub(crate) fn outline_after(old: &Outline, old_text: &str, text: &str) -> Option<Outline> {
    let old_rest = Rest::of(old);
    if !old_rest.is_current || !old.errors.is_empty() || memchr::memchr(b'\r', text.as_bytes()).is_some() {
        return None;
    }
    let window = Window::new(&old_rest.nodes, old_text, text)?;
    let written = &text[window.start..window.new_end];
    let speaks_of_the_file = |text: &str| ["#!", "//!", "/*!"].iter().any(|it| text.contains(it));
    let is_part = written.len() < text.len() / 10 * 9;
    if !is_part || speaks_of_the_file(written) || speaks_of_the_file(&old_text[window.start..window.old_end]) {
        return None;
    }
    if old_text.contains("#![cfg") || too_deep(text).is_some() {
        return None;
    }
    let source = Source::parse(written);
    if source.is_broken() || !source.is_current {
        return None;
    }
    let mut own_rest = rest::rest(&source);
    // Text after the last node would belong to the next one.
    let left = &written[own_rest.last().map_or(0, |it| it.end)..];
    if window.behind < old_rest.nodes.len() && !left.trim().is_empty() {
        return None;
    }
    let moved = |at: usize| at - window.old_end + window.new_end;
    let newlines = |text: &str| memchr::memchr_iter(b'\n', text.as_bytes()).count();
    let lines_before = newlines(&text[..window.start]);
    let lines_behind = newlines(&old_text[..window.old_end]);
    let moved_line = |line: usize| line - lines_behind + lines_before + newlines(written);
    let inside = |span: Span| span.moved(|it| it + window.start);
    let behind = |span: Span| span.moved(moved);

    let mut found = Outline { docs: old.docs.clone(), ..Outline::default() };
    let (kept, gone): (Vec<&OutlineItem>, Vec<&OutlineItem>) =
        old.items.iter().filter(|it| it.span.start < window.old_end).partition(|it| it.span.end <= window.start);
    found.items.extend(kept.into_iter().cloned());
    let mut own = items::items(&source);
    let private = |it: &[&OutlineItem]| {
        let names = it.iter().filter(|it| is_private_type(it)).map(|it| it.name.clone());
        names.collect::<BTreeSet<String>>()
    };
    if private(&gone) != private(&own.iter().collect::<Vec<_>>()) {
        return None;
    }
    own.iter_mut().for_each(|it| move_item(it, &inside));
    found.items.extend(own);
    let mut rest_of_items: Vec<OutlineItem> =
        old.items.iter().filter(|it| it.span.start >= window.old_end).cloned().collect();
    rest_of_items.iter_mut().for_each(|it| move_item(it, &behind));
    found.items.extend(rest_of_items);
    hide_impls_of_private_types(&mut found.items);

    found.imports.extend(old.imports.iter().filter(|it| it.span.end <= window.start).cloned());
    found.imports.extend(imports::imports(&source).into_iter().map(|mut it| {
        it.span = inside(it.span);
        it.line += lines_before;
        it
    }));
    found.imports.extend(old.imports.iter().filter(|it| it.span.start >= window.old_end).cloned().map(|mut it| {
        it.span = behind(it.span);
        it.line = moved_line(it.line);
        it
    }));

    let (text_of_own, lines_of_own) = skeleton::skeleton(&source, &mut own_rest);
    let skeleton_start = window.first.checked_sub(1).map_or(0, |it| old_rest.nodes[it].skeleton_end);
    let skeleton_end = old_rest.nodes.get(window.behind.wrapping_sub(1)).map_or(0, |it| it.skeleton_end);
    let skeleton_end = if window.old_end == old_text.len() { old.skeleton.len() } else { skeleton_end };
    let head = &old.skeleton[..skeleton_start];
    found.skeleton = [head, &text_of_own, &old.skeleton[skeleton_end..]].concat();
    // A line that begins before a part belongs to the previous part.
    let (before, until) = (&found.skeleton[..skeleton_start + text_of_own.len()], &old.skeleton[..skeleton_end]);
    let ends_amid = |skeleton: &str| !skeleton.is_empty() && !skeleton.ends_with('\n');
    let begun = |skeleton: &str| newlines(skeleton) + usize::from(ends_amid(skeleton));
    found.skeleton_lines.extend(&old.skeleton_lines[..begun(head)]);
    found.skeleton_lines.extend(lines_of_own.iter().skip(usize::from(ends_amid(head))).map(|it| it + lines_before));
    if ends_amid(until) && !ends_amid(before) && skeleton_end < old.skeleton.len() {
        found.skeleton_lines.push(lines_before + newlines(written) + 1);
    }
    let begun_there = begun(until) + usize::from(ends_amid(before) && !ends_amid(until));
    let tail = old.skeleton_lines.get(begun_there..).unwrap_or_default();
    found.skeleton_lines.extend(tail.iter().map(|it| moved_line(*it)));

    let skeleton_moved = skeleton_start + text_of_own.len();
    let mut nodes = old_rest.nodes[..window.first].to_vec();
    nodes.extend(own_rest.into_iter().map(|it| moved_rest(it, &inside, |at| at + skeleton_start)));
    let tail = old_rest.nodes[window.behind..].iter().cloned();
    nodes.extend(tail.map(|it| moved_rest(it, &behind, |at| at - skeleton_end + skeleton_moved)));
    found.detail = Detail::new(Rest { nodes, is_current: true, is_unreadable: false });
    Some(found)
}

/// The text that is parsed: from the end of a node to the end of a node, in both texts.
struct Window {
    start: usize,
    old_end: usize,
    new_end: usize,
    /// The index of the old text's first node in it, and of the first node after it.
    first: usize,
    behind: usize,
}

impl Window {
    fn new(nodes: &[RestOf], old: &str, new: &str) -> Option<Window> {
        let same = |it: &(&u8, &u8)| it.0 == it.1;
        let head = old.as_bytes().iter().zip(new.as_bytes()).take_while(same).count();
        let most = old.len().min(new.len()) - head;
        let tail = old.as_bytes().iter().rev().zip(new.as_bytes().iter().rev()).take(most).take_while(same).count();
        let first = nodes.partition_point(|it| it.end <= head);
        let start = first.checked_sub(1).map_or(0, |it| nodes[it].end);
        // A line break has to follow a line comment.
        let ends_well = |it: &RestOf| old[it.end..].starts_with('\n');
        let end = nodes.iter().position(|it| it.end >= old.len() - tail && ends_well(it));
        let (behind, old_end) = match end {
            Some(at) => (at + 1, nodes[at].end),
            None => (nodes.len(), old.len()),
        };
        let new_end = (old_end + new.len()).checked_sub(old.len())?;
        (start <= old_end && start <= new_end).then_some(Window { start, old_end, new_end, first, behind })
    }
}

fn move_item(item: &mut OutlineItem, moved: &dyn Fn(Span) -> Span) {
    item.span = moved(item.span);
    item.name_span = moved(item.name_span);
    item.body = item.body.map(moved);
    item.children.iter_mut().for_each(|it| move_item(it, moved));
}

fn moved_rest(mut node: RestOf, moved: &dyn Fn(Span) -> Span, in_skeleton: impl Fn(usize) -> usize) -> RestOf {
    node.end = moved(Span::new(node.end, node.end)).end;
    node.skeleton_end = in_skeleton(node.skeleton_end);
    node.parts.iter_mut().for_each(|it| it.block = it.block.map(moved));
    node
}
