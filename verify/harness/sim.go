//go:build !nosim

package harness

import _ "ovgen/runtime/driver/sim" // the simulator is one of the drivers
