package prove_test

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"ovgen/schedule/catalog"
	"ovgen/verify/prove"
)

// trace reads a counterexample's trace.
func trace(t *testing.T, c *prove.Counterexample) (bars []bar, names map[string]bool) {
	t.Helper()
	var b bytes.Buffer
	if err := c.Trace(&b); err != nil {
		t.Fatal(err)
	}
	var got struct{ TraceEvents []bar }
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	names = map[string]bool{}
	for _, e := range got.TraceEvents {
		switch e.Ph {
		case "X":
			bars = append(bars, e)
		case "M":
			names[e.Args["name"].(string)] = true
		default:
			t.Errorf("event of phase %q", e.Ph)
		}
	}
	return bars, names
}

type bar struct {
	Name, Ph string
	Ts, Dur  int
	Pid, Tid int
	Args     map[string]any
}

func faults(bars []bar) (list []bar) {
	for _, b := range bars {
		if b.Args["at fault"] == true {
			list = append(list, b)
		}
	}
	return list
}

// The two operations of a race happen at once in its trace, and bars of one stream
// don't overlap otherwise.
func TestTraceRace(t *testing.T) {
	lists := parse(t, "main post ready 1; main C[0:8] = S[0:8]; main wait read 1",
		"main wait ready 0; main S@0[0:8] = A; main post read 0")
	_, err := prove.Lists(t.Context(), needed(model, lists), lists, 0)
	bars, names := trace(t, counterexample(t, err))
	for _, want := range []string{"rank 0", "rank 1", "main", "caller"} {
		if !names[want] {
			t.Errorf("no row is named %q", want)
		}
	}
	two := faults(bars)
	if len(two) != 2 || two[0].Ts >= two[1].Ts+two[1].Dur || two[1].Ts >= two[0].Ts+two[0].Dur {
		t.Errorf("the operations at fault don't overlap: %v", two)
	}
}

// A deadlock's trace ends with its waits still open.
func TestTraceDeadlock(t *testing.T) {
	lists := parse(t, "main S[0:8] = A; main wait x 1; main post x 1", "main wait x 0; main post x 0")
	_, err := prove.Lists(t.Context(), needed(model, lists), lists, 0)
	bars, _ := trace(t, counterexample(t, err))
	held := faults(bars)
	if len(held) != 2 || held[0].Ts+held[0].Dur != held[1].Ts+held[1].Dur ||
		!strings.HasSuffix(held[0].Name, "(held for ever)") {
		t.Errorf("waits at fault: %v", held)
	}
	for _, b := range bars {
		if strings.HasPrefix(b.Name, "post") {
			t.Errorf("%s happens in a deadlock that keeps it from happening", b.Name)
		}
	}
}

// A fault of no operation has no trace.
func TestTraceOfNothing(t *testing.T) {
	if err := (&prove.Counterexample{}).Trace(&bytes.Buffer{}); err == nil {
		t.Error("traced")
	}
}

func TestDot(t *testing.T) {
	p := program(t, "AllGatherLinear", catalog.AllGatherLinear)
	var b, again bytes.Buffer
	if err := prove.Dot(&b, p, 3); err != nil {
		t.Fatal(err)
	}
	if err := prove.Dot(&again, p, 3); err != nil || again.String() != b.String() {
		t.Error("another graph the second time")
	}
	text := b.String()
	if n := strings.Count(text, "subgraph cluster_"); n != 3 {
		t.Errorf("%d clusters", n)
	}
	// Each rank posts ready and read to two peers.
	if n := strings.Count(text, "color=red"); n != 12 {
		t.Errorf("%d posts lead to waits, want 12", n)
	}
	declared := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^    (r\d+_\d+) \[`).FindAllStringSubmatch(text, -1) {
		declared[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`(r\d+_\d+) -> (r\d+_\d+)`).FindAllStringSubmatch(text, -1) {
		if !declared[m[1]] || !declared[m[2]] {
			t.Errorf("edge %s", m[0])
		}
	}
	if err := prove.Dot(&b, p, 0); err == nil {
		t.Error("drew a graph of no ranks")
	}
}
