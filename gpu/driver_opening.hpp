#pragma once

namespace raddle::gpu {

/// Devices are gone whose driver some thread still begins with: nobody has waited for it, as nobody wants it any more.
/// The process is to end without what it does at its end, since the driver's part of that expects no such thread.
bool leaves_driver_opening();

}  // namespace raddle::gpu
