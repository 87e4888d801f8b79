package nvrtc

import "fmt"

// SourceError reports that a program does not compile.
type SourceError struct {
	Name string // of the program
	Log  string // NVRTC's output: NAME(LINE): error: ...
}

// Error is the compiler's log.
func (e *SourceError) Error() string { return fmt.Sprintf("compile %s:\n%s", e.Name, e.Log) }
