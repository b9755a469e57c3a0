// The best of very many arms, exactly, without evaluating all of them.
//
// The arms are the leaves of a tree in which neighbouring arms share a node; one arm of each node is the centre c. When
// a node was opened, its arms had means m_j, sds s_j and sds d_j of f_j - f_c. Let `moved` be the most that all
// observations since can have changed a mean (DriftBound). At present:
//   mean_j <= max (m_j) + max (s_j) moved,        sd_j <= max (s_j),
//   mean_j <= mean_c + max (m_j - m_c) + max (d_j) moved,  sd_j <= sd_c + max (d_j).
// The bounds on sds hold because sds only decrease. Means and sds of centres are exact whenever the node above is open.
// For the score mean + w sd there are joint bounds, from max (m_j + w s_j).
// Nodes are opened in the order of their bounds until none can contain a better arm. Afterwards each opened node stores
// bounds for the nodes below it. A node keeps only a few numbers. If it is opened repeatedly, it also keeps the
// coordinates of its arms, or of the centres below it.
#ifndef GPB_LAZY_ARMS_H
#define GPB_LAZY_ARMS_H

#include "posteriors/low_rank_candidates.h"
#include "posteriors/rising_score.h"

namespace gpb {

class LazyArms {
 public:
  // One arm per row; the first `inputs` columns determine which arms are neighbours. The prior mean has one value per
  // arm, or one for all.
  LazyArms(const Kernel& kernel, const Points& arms, Index inputs, VectorXd prior_mean);

  Index size() const { return points_.rows(); }
  // The first of the arms tied with the best; if there are flags, only among the arms with a flag.
  Index choose(const RisingScore& score, const LowRankPosterior& posterior,
               const std::vector<char>* eligible = nullptr);
  // The number of arms that the last choice evaluated, without centres.
  Index looked_at() const { return looked_at_; }

 private:
  struct Node {
    Index first = 0, count = 0;   // rows of points_
    std::vector<Index> children;  // numbers of nodes; a leaf has none
    Index centre = 0;             // a row,
    Index middle = 0;             // and its number among the node's members
    Index first_arm = 0;          // the smallest arm number
    // At the last opening: the largest of the arms' (mean + weight sd), means, sds, and sds of the differences to the
    // centre.
    double joint = 0.0, mean = 0.0, sd = 0.0, apart = 0.0;
    double weight = 0.0, centre_mean = 0.0;
    DriftBound seen;
    Index opened = -1;
    std::unique_ptr<LowRankCandidates> kept;
  };
  // A node's members are the arms of a leaf, or the centres of the nodes below. Means (prior included), sds, and sds of
  // the differences to the centre.
  struct View {
    VectorXd mean, sd, apart;
  };
  // Upper bounds for all arms of a node.
  struct Reach {
    double joint, mean, sd;
  };
  struct Bound {
    double value;
    Index number;
    bool operator<(const Bound& other) const { return value < other.value; }
  };
  struct Evaluated {
    Index leaf;
    double best;
    VectorXd score;
  };
  struct Opened {
    Index number;
    View view;
  };
  // One choice.
  struct Round {
    const RisingScore& score;
    const LowRankPosterior& posterior;
    const std::vector<char>* eligible;
    DriftBound now;
    double weight;  // 0 if the score has none
    std::vector<Bound> heap;
    std::vector<Opened> opened;
    std::vector<Evaluated> looked;
    double best = -kInf;
    Index first;    // of the arms tied with the best
    // Twice the tolerance, because bounds are rounded, too.
    double least() const { return best - 2.0 * score.tie; }
  };

  // A row of points_ and its sort key.
  struct Keyed {
    double key;
    Index row;
  };

  // `rows` has room for one entry per arm.
  Index build(Index inputs, Index first, Index count, std::vector<Keyed>& rows);
  void halve(Index inputs, Keyed* rows, Index count) const;
  void put_in_order(Index first, Index count, const std::vector<Keyed>& rows);
  void choose_centre(Node& node, Index inputs) const;
  // The number of arms of a leaf, or of the centres of the nodes below; their rows of points_.
  Index members(const Node& of) const {
    return of.children.empty() ? of.count : static_cast<Index>(of.children.size());
  }
  Index member(const Node& of, Index k) const {
    return of.children.empty() ? of.first + k
                               : node(of.children[static_cast<std::size_t>(k)]).centre;
  }
  View view(Node& node, const LowRankPosterior& posterior);
  void drop_stale();
  void follow_moves(const LowRankPosterior& posterior);
  double moved(const DriftBound& then, const DriftBound& now) const;
  Reach reach(const Node& node, double centre_mean, double centre_sd, double weight,
              const DriftBound& now) const;
  void open(Index number, Round& round);
  void look(Index number, const View& view, Round& round);
  void remember(Node& node, const View& view, const Round& round) const;
  void gather(Node& node, const View& view, const Round& round) const;
  Index first_tied(const std::vector<Evaluated>& looked, double least) const;

  Node& node(Index number) { return nodes_[static_cast<std::size_t>(number)]; }
  const Node& node(Index number) const { return nodes_[static_cast<std::size_t>(number)]; }
  Index arm_of(Index row) const { return order_[static_cast<std::size_t>(row)]; }
  double prior_mean(Index row) const { return prior_mean_[prior_mean_.size() == 1 ? 0 : row]; }

  std::vector<Index> order_;  // arm number of each row of points_
  Points points_;
  VectorXd prior_mean_;       // in the order of points_, or one number
  std::vector<Node> nodes_;   // nodes below a node are stored before it; the root is last
  Index leaf_arms_ = 0;       // the largest number of arms in a leaf
  Index call_ = 0, looked_at_ = 0;
  double kept_numbers_ = 0.0;
  double slack_ = 0.0;        // of the posterior's certificate
  // LowRankPosterior::moves(): from any earlier time to `moves_until_`, and from there to now.
  DriftBound moves_until_;
  VectorXd moves_before_ = VectorXd::Zero(1), moves_since_ = VectorXd::Zero(1);
};

}  // namespace gpb

#endif
