package group

// A group runs on GPUs where there are any; the simulator is the program's
// choice, by importing it.
import _ "ovgen/runtime/driver/cuda"
