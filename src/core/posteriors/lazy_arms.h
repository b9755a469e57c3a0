// The best of very many arms without looking at all of them, exactly.
//
// Neighbouring arms form blocks, each with a centre c. Of a block that was looked at when its means
// were m_j, its sds s_j and the sds of f_j - f_c were d_j, it is known that now
//   mean_j <= max_j (m_j + s_j * moved),  sd_j <= max_j s_j:
// `moved` is the most that all observations since can have done (Motion), and sds only fall.
// Where that is not enough the centre is brought up to date, which costs one arm:
//   mean_j <= mean_c + max_j (m_j - m_c + d_j * moved),  sd_j <= sd_c + max_j d_j,
// and afterwards, when it has moved again, mean_c + sd_c * moved. A score mean + w sd is bounded by
// both at once, where each of these would be made large by other arms:
//   max_j (m_j + s_j (moved + w)),  mean_c + w sd_c + max_j (m_j - m_c + d_j (moved + w)),
//   mean_c + max_j (m_j - m_c + w s_j + d_j * moved),
// and neighbouring blocks form groups, of whose bounds it is known that they rise by no more than
// max_j s_j * (moved + growth of w). Groups and blocks are taken in the order of their bounds, of a
// block the centre first, then all arms, until none can hold a better one. What is kept of a block
// are a few numbers; blocks that are looked at again and again keep their coordinates.
#ifndef GPB_LAZY_ARMS_H
#define GPB_LAZY_ARMS_H

#include "posteriors/low_rank_candidates.h"

namespace gpb {

// A score that never falls when the mean or the sd rises (an upper bound, expected improvement);
// scores within `tie` of the best are tied. Where it is mean + w sd, `weight` is w; else NaN.
struct RisingScore {
  std::function<double(double mean, double sd)> of;
  double tie;
  double weight = kNaN;
};

class LazyArms {
 public:
  // One arm per row, of which the first `inputs` columns say which arms are neighbours; the prior
  // mean has one value per arm, or one for all.
  LazyArms(const Kernel& kernel, const Points& arms, Index inputs, VectorXd prior_mean);

  Index size() const { return points_.rows(); }
  // The first of the arms tied with the best, among those with a flag if there are flags.
  Index choose(const RisingScore& score, const LowRankPosterior& posterior,
               const std::vector<char>* eligible = nullptr);
  // How many arms the last choice looked at, centres not counted.
  Index looked_at() const { return looked_at_; }

 private:
  // max_j (m_j + step d_j) as a function of step >= from: known at a few steps, bounded in between.
  struct Rise {
    static constexpr int kKnots = 5;
    double from = 0.0;
    double at_knot[kKnots] = {};
    double steepest = 0.0;
    void know(const VectorXd& m, const VectorXd& d, double from);
    double at(double step) const;
  };
  struct Block {
    Index first = 0, count = 0, centre = 0;
    Index first_arm = 0;  // the smallest number
    // At the last look: of the arms, of their differences to the centre, and of the latter's
    // means + weight * (the arms' sds).
    Rise own, apart, level;
    double weight = 0.0;
    double sd = 0.0;
    Motion seen;
    Index last_look = -1;
    // The centre, when it was seen last, never before the last look.
    double centre_mean = 0.0, centre_sd = 0.0;
    Motion centre_seen;
    std::unique_ptr<LowRankCandidates> centre_kept, kept;
    VectorXd kept_apart;  // d_j, of the look at which `kept` was made
  };
  struct Looked {
    Index block;
    VectorXd score;
  };
  struct Group {
    Index first = 0, count = 0;  // blocks
    double value = kInf, sd = 0.0, weight = 0.0;  // when their bounds were computed
    Motion seen;
  };
  enum class Stage { group, block, centred };  // the last: the centre is up to date
  struct Bound {
    double value;
    Index number;
    Stage stage;
    bool operator<(const Bound& other) const { return value < other.value; }
  };
  // Means (prior included), sds, and sds of the differences to the centre.
  struct View {
    VectorXd mean, sd, apart;
  };

  void divide(const Points& arms, Index inputs, Index first, Index count);
  void add_block(const Points& arms, Index inputs, Index first, Index count);
  void remember(Block& block, const View& view, const Motion& now, double weight) const;
  View view(Block& block, const LowRankPosterior& posterior);
  void see_centre(Block& block, const LowRankPosterior& posterior, const Motion& now) const;
  double moved(const Motion& then, const Motion& now) const;
  double bound(const Block& block, const RisingScore& score, const Motion& now) const;
  double joint_bound(const Block& block, double weight, const Motion& now) const;
  double bound(const Group& group, const RisingScore& score, const Motion& now) const;
  void open(Group& group, const RisingScore& score, const Motion& now, double least,
            std::vector<Bound>& heap);
  Looked look(Index number, const RisingScore& score, const LowRankPosterior& posterior,
              const Motion& now, const std::vector<char>* eligible);
  Index look_until_best(const RisingScore& score, const LowRankPosterior& posterior,
                        const std::vector<char>* eligible);
  Index first_tied(const std::vector<Looked>& looked, double least) const;
  void drop_stale();
  void forget_kept(Block& block);
  Index arm_of(Index row) const { return order_[static_cast<std::size_t>(row)]; }
  double prior_mean(Index row) const { return prior_mean_[prior_mean_.size() == 1 ? 0 : row]; }
  Points rows_of(const Block& block) const { return points_.middleRows(block.first, block.count); }

  std::vector<Index> order_;  // row of points_ to the arm's number
  Points points_;
  VectorXd prior_mean_;       // in the order of points_, or one number
  std::vector<Block> blocks_;
  std::vector<Group> groups_;
  Index block_arms_ = 0;      // at most so many in each
  Index call_ = 0, looked_at_ = 0;
  double kept_numbers_ = 0.0;
  double slack_ = 0.0;        // of the posterior's certificate
  VectorXd moves_;            // LowRankPosterior::moves()
};

}  // namespace gpb

#endif
