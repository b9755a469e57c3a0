// Makes widths from settings. Uses base/ and spaces/arm_setting.h.
#ifndef GPB_MAKE_WIDTH_H
#define GPB_MAKE_WIDTH_H

#include "base/settings.h"
#include "posteriors/arm_setting.h"
#include "widths/width.h"

namespace gpb {

// Makes a width from its settings. `arms`: the table of arms, for information gains over it; null without one. The
// result is null if the width is not a single multiplier.
WidthPtr make_width(const Settings& width, const ArmSetting* arms, double noise_var);

// Returns its argument, for callers that need a single multiplier. Throws if it is null.
WidthPtr one_multiplier(WidthPtr width);

}  // namespace gpb

#endif
