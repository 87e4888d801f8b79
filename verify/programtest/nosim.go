//go:build nosim

package programtest

import (
	"testing"

	"ovgen/verify/harness"
)

// Run needs the simulator, which this build leaves out.
func Run(t *testing.T, _ harness.Program) { t.Skip("built without the simulator") }
