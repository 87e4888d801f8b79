package group

// A group runs on GPUs, and Join fails where there are none. The simulator runs it where
// the program imports that, and Config.Backend or OVGEN_DRIVER asks for it.
import _ "ovgen/runtime/driver/cuda"
