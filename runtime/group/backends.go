package group

// A group runs on GPUs, and Join fails where there are none. The group runs on the simulator where the program imports
// the simulator, and Config.Backend or OVGEN_DRIVER asks for it.
import _ "ovgen/runtime/driver/cuda"
