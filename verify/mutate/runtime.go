package mutate

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// RuntimeMutant is a mistake in how the runtime orders runs, between which buffers are bound anew, or of which a
// caller's graph holds several, or in what it refuses and says.
type RuntimeMutant struct {
	File, Text string // below runtime; the change
	Old, New   string // Old stands once in the file
	Tests      string // of package plan, which have to notice it
}

// Runtime are the mistakes: of several plans in one graph, of buffers that are bound between runs, of what New asks and
// refuses, and of what an abort says is missing.
var Runtime = []RuntimeMutant{
	{"group/captured.go", "runs of one capture on two streams are apart",
		"return c.StreamUpdateCaptureDependencies(r.main, union(info.Nodes, s.graph.ends))", "return nil",
		"TestRunsInOneGraph"},
	{"group/captured.go", "the group goes on behind the first run of a capture",
		"c.GraphAddDependencies(info.Graph, next.ends, next.record)",
		"c.GraphAddDependencies(info.Graph, s.graph.ends, next.record)", "TestRunsInOneGraph"},
	{"group/captured.go", "a graph does not await what the group has run",
		"return g.drv.StreamWaitEvent(r.main, s.order, driver.External)", "return nil", "TestRunsInOneGraph"},
	{"plan/graphs.go", "the graph of another binding", "if f.At(0) != k.at[i] {", "if f.At(0) == 0 && k.at[i] == 1 {",
		"TestBalanced"},
	{"plan/room.go", "blocks that have no room", "each*have < most.blocks", "each < 0", "TestNewAsksForRoom"},
	{"plan/room.go", "room for a launch of another plan", "	return k.most\n", "	return all\n",
		"TestNewAsksForRoom"},
	{"plan/queue.go", "a post that was taken is missing", "before[i].Taken = w.PostPost[i]", "before[i].Taken = 0",
		"TestStepsNamePostsOfKernels"},
	{"plan/divides.go", "the nearest multiples by the last requirement alone", "all = common(all, n)", "all = n",
		"TestCheck"},
}

// Name is the mutant in one line.
func (m RuntimeMutant) Name() string { return m.File + ": " + m.Text }

// Apply is the file with the mistake. The runtime lies in the folder dir.
func (m RuntimeMutant) Apply(dir string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(dir, m.File))
	if err != nil {
		return nil, fmt.Errorf("mutate %s: %w", m.Name(), err)
	}
	if n := bytes.Count(text, []byte(m.Old)); n != 1 {
		return nil, fmt.Errorf("mutate %s: %q stands %d times in the file, want once", m.Name(), m.Old, n)
	}
	return bytes.Replace(text, []byte(m.Old), []byte(m.New), 1), nil
}

// JudgeRuntime runs tests of package plan with the mutant in the place of its file.
func JudgeRuntime(ctx context.Context, dir string, m RuntimeMutant) (Class, string, error) {
	text, err := m.Apply(dir)
	if err != nil {
		return "", "", err
	}
	out, passed, err := overlaid(ctx, filepath.Join(dir, "plan"), m.Tests, filepath.Join(dir, m.File), text)
	switch failed := bytes.Index(out, []byte("--- FAIL: ")); {
	case err != nil:
		return "", "", fmt.Errorf("mutate %s: %w", m.Name(), err)
	case passed:
		return Survivor, "the tests pass: " + m.Tests, nil
	case failed < 0:
		return "", "", fmt.Errorf("mutate %s: %w:\n%s", m.Name(), errNoVerdict, out)
	default:
		why, _, _ := bytes.Cut(out[failed:], []byte("\n"))
		return Caught, string(why), nil
	}
}
