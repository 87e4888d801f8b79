package cli

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	schedules "ovgen/schedule/catalog"
)

var update = flag.Bool("update", false, "write docs/schedules.md anew")

// docs/schedules.md is what the generator prints, and has every schedule of the catalog.
func TestSchedulesPage(t *testing.T) {
	var page bytes.Buffer
	if err := printSchedules(&page); err != nil {
		t.Fatal(err)
	}
	file := filepath.FromSlash("../../../../docs/schedules.md")
	if *update {
		if err := os.WriteFile(file, page.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (go test ./cmd/ovgen/internal/cli -run TestSchedulesPage -update)", err)
	}
	if diff := cmp.Diff(string(want), page.String()); diff != "" {
		t.Errorf("docs/schedules.md is not current (-docs +printed; -update):\n%s", diff)
	}
	for _, n := range schedules.All() {
		if !strings.Contains(page.String(), " "+n.Name+" ") && !strings.Contains(page.String(), " "+n.Name+",") {
			t.Errorf("%s has no row", n.Name)
		}
	}
}
