package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ovgen/schedule"
	schedules "ovgen/schedule/catalog"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/schedule/passes"
	"ovgen/schedule/scheduletest"
)

// The example of docs/design.md is what show -passes prints.
func TestDesignShowsPasses(t *testing.T) {
	const command = "$ ovgen show -passes AllReduceOneShot\n"
	page, err := os.ReadFile(filepath.FromSlash("../../../../docs/design.md"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := behindEach("AllReduceOneShot", schedules.AllReduceOneShot)
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(page), command)
	shown, _, _ = strings.Cut(shown, "```")
	if diff := cmp.Diff(shown, text); diff != "" {
		t.Errorf("docs/design.md is not current (-docs +printed):\n%s", diff)
	}
}

// A pass that changes a program prints all of it: the lines without a mark and the new lines.
func TestPassesPrintPrograms(t *testing.T) {
	for _, n := range schedules.All() {
		var programs []string
		if _, err := lower.Behind(n.Name, n.Schedule, func(_ passes.Pass, p *hostir.Program) {
			programs = append(programs, passText(p))
		}); err != nil {
			t.Fatal(err)
		}
		text, err := behindEach(n.Name, n.Schedule)
		if err != nil {
			t.Fatal(err)
		}
		for i, paragraph := range strings.Split(text, "\n\n") {
			head, shown, _ := strings.Cut(strings.TrimSuffix(paragraph, "\n")+"\n", "\n")
			if i == 0 || strings.HasPrefix(shown, "nothing ") {
				continue
			}
			var program strings.Builder
			for line := range strings.Lines(shown) {
				if line[0] != '-' {
					program.WriteString(line[1:])
				}
			}
			if diff := cmp.Diff(programs[i], program.String()); diff != "" {
				t.Errorf("%s, behind %s (-program +printed):\n%s", n.Name, head, diff)
			}
		}
	}
}

// Each line of a program stands where a pass makes it, and each pass changes some program, but for one that refuses.
func TestPassesSayWhatChanges(t *testing.T) {
	changes := map[string]bool{}
	multiples, batches := schedules.All()[0], schedules.All()[0] // as none of the catalogue
	multiples.Schedule.Multiples = map[schedule.Extent]string{schedule.M: "64"}
	batches.Schedule = schedule.Schedule{Tensors: scheduletest.Tensors("A[4 M/D K] B[N K] C[4 M:D N]"),
		Ops: []schedule.Op{schedule.BatchedLinear("C", "A", "B")}}
	for _, n := range append(schedules.All(), multiples, batches) {
		text, err := behindEach(n.Name, n.Schedule)
		if err != nil {
			t.Fatal(err)
		}
		for paragraph := range strings.SplitSeq(text, "\n\n") {
			head, change, _ := strings.Cut(paragraph, "\n")
			name, _, _ := strings.Cut(head, ":")
			changes[name] = changes[name] || strings.TrimSpace(change) != "nothing changes"
		}
		p, err := lower.Lower(n.Name, n.Schedule)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.SplitSeq(hostir.Print(p), "\n") {
			if !strings.Contains(text, line) {
				t.Errorf("%s: no pass says that it makes %q", n.Name, line)
			}
		}
	}
	for _, pass := range passes.All {
		if !changes[pass.Name] && pass.Name != "blocks" {
			t.Errorf("%s changes nothing", pass.Name)
		}
	}
}
