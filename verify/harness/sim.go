package harness

import _ "ovgen/verify/sim" // the simulator is one of the drivers
