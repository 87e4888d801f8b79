package emit

import (
	"strings"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
)

// A package says of each buffer and call what lies where, and of how many bytes, and what must be alike.
func TestBuffersComment(t *testing.T) {
	for _, c := range []struct {
		name string
		schedule.Schedule
		want []string
	}{
		{"Logits", catalog.Logits, []string{"2 bytes (BF16, FP16) or 4 bytes",
			"[M, K]: the same on all ranks; M*K elements",
			"[N/D, K] in memory"}},
		{"Batches", catalog.AllGatherLinearBatches, []string{"[4, DIDx(D), M/(4*D), K]: this rank's part",
			"[4, M/(4*D), K] in memory, M/D*K elements"}},
		{"Mixed", catalog.MixedMLP, []string{"or of the type that a field names", "fp32 [DIDx(D), M/D, K]",
			"M/D*K elements of 4 bytes",
			"Functions: rounded of X by a kernel of its own; gelu of H by the library of"}},
		{"Attention", catalog.LlamaLayer, []string{"Norm   device.Ptr // [K]: the same on all ranks; K elements",
			"work, O [M, N/D] of Query [M, N/D], Key [M, N2/D] and Value [M, N2/D] in this"}},
		{"Columns", catalog.AllGatherLinear, []string{"// [N, K]; N*K elements"}}, // each rank may have its own
		{"Rows", catalog.RowParallelLinear, []string{"Bias     device.Ptr // [N]; N elements"}},
	} {
		in := program(t, c.name, c.Schedule)
		all := ""
		for name, text := range packages(t, in) {
			if strings.HasSuffix(name, "program.go") || strings.HasSuffix(name, "doc.go") {
				all += string(text)
			}
		}
		for _, w := range c.want {
			if !strings.Contains(all, w) {
				t.Errorf("%s: no %q", c.name, w)
			}
		}
	}
}
