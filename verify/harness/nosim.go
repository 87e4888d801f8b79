//go:build nosim

package harness

import "testing"

// TestProgram needs the simulator, which this build leaves out.
func TestProgram(t *testing.T, _ Program) { t.Skip("built without the simulator") }
