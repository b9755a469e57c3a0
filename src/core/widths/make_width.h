// Widths from settings.
#ifndef GPB_MAKE_WIDTH_H
#define GPB_MAKE_WIDTH_H

#include "base/settings.h"
#include "spaces/arm_setting.h"
#include "widths/width.h"

namespace gpb {

// From a width's settings. `arms`: the table of arms, for gains over it; null without one.
// Null for a width that is not one multiplier.
WidthPtr make_width(const Settings& width, const ArmSetting* arms, double noise_var);

// The same, for what goes by one multiplier: throws where there is none.
WidthPtr one_multiplier(WidthPtr width);

}  // namespace gpb

#endif
