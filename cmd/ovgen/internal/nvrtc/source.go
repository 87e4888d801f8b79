package nvrtc

import "fmt"

// Pinned is the version of NVRTC that makes checked-in PTX: drivers from R550 on load
// its output.
const Pinned = "12.4"

// SourceError reports that a program does not compile.
type SourceError struct {
	Name string // of the program
	Log  string // NVRTC's output: NAME(LINE): error: ...
}

// Error is the compiler's log.
func (e *SourceError) Error() string { return fmt.Sprintf("compile %s:\n%s", e.Name, e.Log) }
