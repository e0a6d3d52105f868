//! Weighted PageRank with personalization, by power iteration. Nodes are numbers.

/// The damping factor: the part of the rank of a node that flows along its edges. The rest flows to the personalization
/// vector.
pub(crate) const DAMPING: f64 = 0.85;
/// The iteration ends when the ranks of two rounds differ by less than this in total.
const PRECISION: f64 = 1e-10;
/// Far more rounds than needed: each round reduces the difference to 0.85 of it.
const MOST_ROUNDS: usize = 500;

/// The edges of each node: target and weight.
pub(crate) type Edges = Vec<Vec<(usize, f64)>>;

/// The rank of each node; the sum is 1. `interest` is the personalization vector: not negative, not necessarily
/// normalised, and uniform if it is empty or all zero. The rank of a node without edges flows to `interest`.
pub(crate) fn pagerank(edges: &Edges, interest: &[f64]) -> Vec<f64> {
    let count = edges.len();
    let interest = normalised(interest, count);
    let totals: Vec<f64> = edges.iter().map(|it| it.iter().map(|it| it.1).sum()).collect();
    let mut ranks = interest.clone();
    for _ in 0..MOST_ROUNDS {
        let dangling: f64 = ranks.iter().zip(&totals).filter(|it| *it.1 <= 0.0).map(|it| it.0).sum();
        let mut next: Vec<f64> = interest.iter().map(|it| it * (1.0 - DAMPING + DAMPING * dangling)).collect();
        for ((rank, total), edges) in ranks.iter().zip(&totals).zip(edges).filter(|it| *it.0.1 > 0.0) {
            for (to, weight) in edges {
                if let Some(next) = next.get_mut(*to) {
                    *next += DAMPING * rank * weight / total;
                }
            }
        }
        let difference: f64 = ranks.iter().zip(&next).map(|(a, b)| (a - b).abs()).sum();
        ranks = next;
        if difference < PRECISION {
            break;
        }
    }
    ranks
}

fn normalised(interest: &[f64], count: usize) -> Vec<f64> {
    let total: f64 = interest.iter().sum();
    if total > 0.0 && interest.len() == count {
        interest.iter().map(|it| it / total).collect()
    } else {
        vec![1.0 / count.max(1) as f64; count]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(ranks: &[f64], wanted: &[f64]) {
        assert!(ranks.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-6), "{ranks:?}, not {wanted:?}");
        assert!((ranks.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{ranks:?}");
    }

    #[test]
    fn ranks_are_those_of_networkx() {
        // networkx 3.4: pagerank(G, alpha=.85, weight="weight", tol=1e-12)
        let edges = vec![vec![(1, 2.0), (2, 1.0)], vec![(2, 1.0)], vec![(0, 1.0)], vec![(2, 3.0)]];
        close(&pagerank(&edges, &[]), &[0.353_288, 0.237_697, 0.371_515, 0.0375]);
        // The same with personalization={3: 1}.
        close(&pagerank(&edges, &[0.0, 0.0, 0.0, 1.0]), &[0.309_864, 0.175_590, 0.364_546, 0.15]);
        // And without the edge from 2, which leaves it dangling.
        let edges = vec![vec![(1, 2.0), (2, 1.0)], vec![(2, 1.0)], vec![], vec![(2, 3.0)]];
        close(&pagerank(&edges, &[]), &[0.142_214, 0.222_802, 0.492_771, 0.142_214]);
    }

    #[test]
    fn nothing_has_no_rank_and_one_has_all() {
        assert_eq!(pagerank(&Vec::new(), &[]), [0.0; 0]);
        close(&pagerank(&vec![Vec::new()], &[0.0]), &[1.0]);
        close(&pagerank(&vec![Vec::new(), Vec::new()], &[0.0, 3.0]), &[0.0, 1.0]);
    }
}
