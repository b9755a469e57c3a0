// The best of very many arms without looking at all of them, exactly.
//
// Neighbouring arms form blocks, and one arm of each, its centre c, is followed in every round.
// A block that was last looked at when its means were m_j and the sds of f_j - f_c were d_j has
// now
//   mean_j <= mean_c + max_j (m_j - m_c + d_j * moved),   sd_j <= min(max_j sd_j then, sd_c + d),
// `moved` the bound of Motion on what all observations since can have done to a difference of
// this sd: sds only fall. Blocks are looked at in the order of their bounds until none can hold
// a better arm. What is kept of a block are a few numbers, so memory does not grow with rank
// times arms; blocks that are looked at again and again keep their coordinates.
#ifndef GPB_LAZY_ARMS_H
#define GPB_LAZY_ARMS_H

#include "posteriors/low_rank_candidates.h"

namespace gpb {

// A score that never falls when the mean or the sd rises (an upper bound, expected improvement);
// scores within `tie` of the best are tied.
struct RisingScore {
  std::function<double(double mean, double sd)> of;
  double tie;
};

class LazyArms {
 public:
  // One arm per row; the prior mean has one value per arm, or one for all.
  LazyArms(const Kernel& kernel, const Points& arms, VectorXd prior_mean);

  Index size() const { return points_.rows(); }
  // The first of the arms tied with the best.
  Index choose(const RisingScore& score, const LowRankPosterior& posterior);
  // How many arms the last choice looked at, centres not counted.
  Index looked_at() const { return looked_at_; }

 private:
  struct Block {
    Index first = 0, count = 0, centre = 0;
    // At the last look: max_j (m_j - m_c + step d_j) for three steps, and the largest sds.
    double rise[3] = {0.0, 0.0, 0.0};
    double sd = 0.0, apart = 0.0;
    Motion seen;
    Index last_look = -1;
    std::unique_ptr<LowRankCandidates> kept;
    VectorXd kept_apart;  // d_j, of the look at which `kept` was made
    double rise_at(double moved) const;
  };
  struct Looked {
    Index block;
    VectorXd score;
  };
  // Means (prior included), sds, and sds of the differences to the centre.
  struct View {
    VectorXd mean, sd, apart;
  };

  void divide(const Points& arms, Index first, Index count);
  void add_block(const Points& arms, Index first, Index count);
  void remember(Block& block, const View& view) const;
  View view(Block& block, const LowRankPosterior& posterior);
  double bound(Index number, const RisingScore& score, const Motion& now) const;
  Looked look(Index number, const RisingScore& score, const LowRankPosterior& posterior);
  Index first_tied(const std::vector<Looked>& looked, double least) const;
  void drop_stale();
  double prior_mean(Index row) const { return prior_mean_[prior_mean_.size() == 1 ? 0 : row]; }
  Points rows_of(const Block& block) const { return points_.middleRows(block.first, block.count); }

  std::vector<Index> order_;  // row of points_ to the arm's number
  Points points_;
  VectorXd prior_mean_;       // in the order of points_, or one number
  std::vector<Block> blocks_;
  std::unique_ptr<LowRankCandidates> centres_;
  Index call_ = 0, looked_at_ = 0;
  double kept_numbers_ = 0.0;
  double slack_ = 0.0;        // of the posterior's certificate
};

}  // namespace gpb

#endif
