package group

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"ovgen/runtime/driver"
	"ovgen/runtime/fabric"
	"ovgen/runtime/group/store"
	"ovgen/runtime/launcher"
)

func TestBlocked(t *testing.T) {
	steps := []Step{
		{Number: 1, Stream: "main", Text: "Post"},
		{Number: 3, Stream: "copy", Wait: true, Peers: []int{1}, Text: "Wait ready[1]"},
		{Number: 5, Stream: "copy", Wait: true, Peers: []int{2}, Text: "Wait ready[2]"},
		{Number: 9, Stream: "copy", Wait: true, Peers: []int{1, 2}, Text: "Wait read"},
		{Number: 7, Stream: "work[1]", Wait: true, Peers: []int{1}, Text: "Wait other"},
	}
	for _, x := range []struct {
		copy, work uint32
		want       int
		sure       bool
	}{
		{0, 0, 3, true},
		{StepValue(2, 9), StepValue(2, 7), 3, true}, // another plan ran before
		{StepValue(4, 3), 0, 5, true},
		{StepValue(4, 5), StepValue(4, 7), 9, true},
		{StepValue(4, 9), StepValue(4, 7), 3, false}, // this plan ran before, or is through
		{StepValue(4, 9), StepValue(1, 7), 7, true},
	} {
		at, ok := earliest(nexts(steps, 4, map[string]uint32{"copy": x.copy, "work[1]": x.work}))
		if !ok || at.Number != x.want || at.sure != x.sure {
			t.Errorf("copy %#x, work %#x: step %d, sure %v; want %d, %v", x.copy, x.work, at.Number, at.sure,
				x.want, x.sure)
		}
	}
	if _, ok := earliest(nexts(steps[:1], 4, nil)); ok {
		t.Error("a plan without waits is blocked")
	}
	list := nexts(steps, 4, nil) // 3 on copy and 7 on work[1]
	if list[0].posted = true; len(list) != 2 {
		t.Fatalf("%+v", list)
	}
	if at, _ := earliest(list); at.Number != 7 {
		t.Errorf("step %d, want 7: the posts of step 3 are there", at.Number)
	}
	list[1].posted = true
	if at, _ := earliest(list); at.Number != 3 {
		t.Errorf("step %d, want 3, the first where all posts are there", at.Number)
	}
}

func TestSuspect(t *testing.T) {
	all := []history{{runs: 5}, {runs: 5}, {runs: 4}}
	for _, x := range []struct {
		peers []int
		cause error
		want  int
	}{
		{[]int{1}, nil, 1},
		{[]int{1, 2}, nil, 2},
		{[]int{2, 1}, &store.GoneError{Rank: 1}, 1},
		{[]int{2}, &store.GoneError{Rank: 1}, 2},
		{nil, nil, 0},
	} {
		if got := suspect(x.peers, 0, all, x.cause); got != x.want {
			t.Errorf("peers %v, cause %v: %d, want %d", x.peers, x.cause, got, x.want)
		}
	}
}

func TestOrder(t *testing.T) {
	ran := func(plans ...int) (h history) {
		for _, p := range plans {
			h.recent[h.runs%recentRuns] = uint32(p)
			h.runs++
		}
		return h
	}
	many := make([]int, 40)
	for i := range many {
		many[i] = 1
	}
	for _, x := range []struct {
		all  []history
		want string
	}{
		{[]history{ran(), ran(), ran()}, ""},
		{[]history{ran(1, 2), ran(1, 2)}, ""},
		{[]history{ran(1, 2), ran(1, 3), ran(1, 2)},
			"run 2 of the group was plan 2 on ranks 0, 2; plan 3 on rank 1"},
		{[]history{ran(1, 2), ran(1), ran(1, 2)}, "runs begun by the host: 2 on ranks 0, 2; 1 on rank 1"},
		{[]history{ran(append(many, 2)...), ran(append(many, 3)...)},
			"run 41 of the group was plan 2 on rank 0; plan 3 on rank 1"},
		{[]history{ran(many...), ran(1)}, "runs begun by the host: 40 on rank 0; 1 on rank 1"},
	} {
		if got := order(x.all, func(p int) string { return fmt.Sprintf("plan %d", p) }); got != x.want {
			t.Errorf("%q, want %q", got, x.want)
		}
	}
}

func TestCheckAlike(t *testing.T) {
	good := func(r byte) identity {
		return identity{Protocol: 1, Host: "h", Driver: "cuda", UUID: driver.UUID{r}, Device: "H200",
			Arena: 1 << 20}
	}
	for _, x := range []struct {
		spoil func(*identity)
		check string
		hint  string
	}{
		{func(*identity) {}, "", ""},
		{func(i *identity) { i.Protocol = 2 }, "protocol", "same binary"},
		{func(i *identity) { i.Host = "g" }, "host", "one machine"},
		{func(i *identity) { i.Driver = "sim" }, "driver", launcher.EnvDriver},
		{func(i *identity) { i.Arena = 5 }, "arena", "Config.Arena"},
		{func(i *identity) { i.UUID = driver.UUID{1} }, "device", "Config.Devices"},
	} {
		all := []identity{good(0), good(1), good(2)}
		x.spoil(&all[2])
		err := checkAlike(all)
		var c *CheckError
		if x.check == "" {
			if err != nil {
				t.Error(err)
			}
			continue
		}
		if !errors.As(err, &c) || c.Check != x.check || c.Ranks[1] != 2 ||
			!strings.Contains(err.Error(), x.hint) {
			t.Errorf("%s: %v", x.check, err)
		}
	}
}

func TestReadFabric(t *testing.T) {
	const good = `[{"Link":"-"},{"Link":"nvlink"}]`
	for _, x := range []struct {
		blobs []string
		want  string
	}{
		{[]string{good, `[{"Link":"pcie"},{"Link":"-"}]`}, ""},
		{[]string{good, `[{"Link":"none","Why":"no way"},{"Link":"-"}]`}, "rank 1 can't map rank 0's memory: no way"},
		{[]string{good, `[{}]`}, "rank 1: it sent no list"},
		{[]string{`garbage`, good}, "rank 0: it sent no list"},
	} {
		var blobs [][]byte
		for _, b := range x.blobs {
			blobs = append(blobs, []byte(b))
		}
		f, err := readFabric(blobs)
		if (err == nil) != (x.want == "") || err != nil && !strings.Contains(err.Error(), x.want) {
			t.Errorf("%v: %v, want %q", x.blobs, err, x.want)
		}
		if err == nil && (f.Pair(0, 1) != fabric.PCIe || f[0][1] != fabric.NVLink) {
			t.Errorf("%v: %v", x.blobs, f)
		}
	}
}

func TestResolve(t *testing.T) {
	for _, x := range []struct {
		env  map[string]string
		c    Config
		want string // part of the error
	}{
		{map[string]string{launcher.EnvRank: "1", launcher.EnvSize: "2", launcher.EnvJob: "j"}, Config{}, ""},
		{nil, Config{Rank: 1, Size: 2, Job: "j"}, ""},
		{nil, Config{}, "launch.Command"},
		{map[string]string{launcher.EnvRank: "x", launcher.EnvSize: "2", launcher.EnvJob: "j"}, Config{},
			`OVGEN_RANK="x"`},
		{nil, Config{Size: 2}, "no job name"},
		{map[string]string{launcher.EnvRank: "1", launcher.EnvSize: "2"}, Config{}, "no job name"},
		{nil, Config{Size: 2, Job: "j", Arena: 100}, "arena"},
		{nil, Config{Size: 2, Job: "j", Timeout: -1}, "Config.Timeout is -1ns"},
		{nil, Config{Size: 2, Job: "j", Graphs: -1}, "Config.Graphs is -1 (leave it 0 for the default, 128)"},
		{nil, Config{Size: 2, Job: "j", JoinTimeout: -1},
			"Config.JoinTimeout is -1ns (leave it 0 for the default, 30s)"},
		{nil, Config{Size: 2, Job: "j", CallTimeout: -1, Timeout: time.Second},
			"Config.CallTimeout is -1ns (leave it 0 for the default, 1s)"},
		{nil, Config{Size: 2, Job: "j", RunTimeout: -1}, "Config.RunTimeout"},
		{nil, Config{Size: 2, Job: "j", Backend: "rocm"}, `look up driver "rocm"`},
		{nil, Config{Size: 2, Job: "j", Devices: []int{1}}, "1 devices for 2 ranks"},
	} {
		for _, name := range []string{launcher.EnvRank, launcher.EnvSize, launcher.EnvJob, launcher.EnvDriver} {
			t.Setenv(name, x.env[name])
		}
		c, err := x.c.resolve()
		if (err == nil) != (x.want == "") || err != nil && !strings.Contains(err.Error(), x.want) {
			t.Errorf("%v %+v: %v, want %q", x.env, x.c, err, x.want)
		}
		if err == nil && (c.Rank != 1 || c.Size != 2 || c.Job != "j" || c.Arena != DefaultArena ||
			c.Timeout != DefaultTimeout || c.Backend != "cuda") {
			t.Errorf("%v %+v: %+v", x.env, x.c, c)
		}
	}
}

// remembering is a backend, and its driver.
type remembering struct {
	driver.Driver
	folder string
}

func (d *remembering) Count() (int, error) { return 1, nil }

func (d *remembering) Open(int, uintptr) (driver.Driver, error) { return d, nil }

func (d *remembering) Remember(folder string) { d.folder = folder }

// TestCache: the driver that a rank opens is told where to keep what it measures.
func TestCache(t *testing.T) {
	d := &remembering{folder: "its own"}
	driver.Register("remembering", d)
	c := Config{Size: 1, Job: "j", Backend: "remembering", Cache: "off"}
	if _, err := c.openDriver(c.Backend); err != nil || d.folder != "off" {
		t.Errorf("the driver keeps files in %q: %v", d.folder, err)
	}
}

// TestDevice: a rank takes the device that its launcher names.
func TestDevice(t *testing.T) {
	for name, v := range map[string]string{launcher.EnvRank: "1", launcher.EnvSize: "2", launcher.EnvLocal: "3",
		launcher.EnvJob: "j"} {
		t.Setenv(name, v)
	}
	for _, x := range []struct {
		c    Config
		want int
	}{{Config{}, 3}, {Config{Devices: []int{5, 6}}, 6}, {Config{Rank: 1, Size: 2}, 1}} {
		if c, err := x.c.resolve(); err != nil || c.device() != x.want {
			t.Errorf("%+v: device %d, want %d: %v", x.c, c.device(), x.want, err)
		}
	}
}

func TestWords(t *testing.T) {
	a := &Arena{bytes: leastArena + 1000}
	at := func(n int) int64 {
		t.Helper()
		off, err := a.Words(n)
		if err != nil {
			t.Fatal(err)
		}
		return off
	}
	x, y, z := at(4), at(4), at(8)
	if x != semaphoreAt || y != x+16 || z != y+16 {
		t.Errorf("offsets %d, %d, %d", x, y, z)
	}
	a.FreeWords(y)
	if got := at(5); got != z+32 {
		t.Errorf("5 words at %d, though only 4 were free before %d", got, z)
	}
	if got := at(4); got != y {
		t.Errorf("freed words are not used again: %d", got)
	}
	if a.used() != 21 {
		t.Errorf("%d words used", a.used())
	}
	if _, err := a.Words(leastWords); err == nil {
		t.Error("more words than there are")
	}
}

func TestStage(t *testing.T) {
	a := &Arena{bytes: leastArena + 1024}
	off, err := a.Stage(1, 256, 257)
	if err != nil || off[0] != leastArena || off[1] != leastArena+256 || off[2] != leastArena+512 {
		t.Errorf("%v, %v", off, err)
	}
	_, err = a.Stage(1000, 100)
	var e *ArenaError
	if !errors.As(err, &e) || e.Need-e.Have != 256 {
		t.Errorf("%v", err)
	}
	if _, err = a.Stage(-1); err == nil {
		t.Error("a negative size")
	}
}

// TestFlights drives the ring past its end: what has no place of its own shares
// the last event and is not forgotten.
func TestFlights(t *testing.T) {
	var s runs
	for i := range s.events {
		s.events[i] = driver.Event(i + 1)
	}
	late := time.Now().Add(-time.Second)
	for seq := uint64(1); seq <= 2*flights; seq++ {
		e := s.next()
		if seq > flights != (e == s.events[flights]) {
			t.Fatalf("run %d has event %d", seq, e)
		}
		s.push(flight{plan: int(seq), seq: seq, event: e, deadline: late.Add(time.Hour)})
	}
	if _, ok := s.expired(time.Now()); ok {
		t.Error("a run is late")
	}
	s.drained(flights - 1)
	if f, ok := s.front(); !ok || f.seq != flights {
		t.Errorf("front %+v", f)
	}
	if s.next() != s.events[flights] {
		t.Error("a run overtakes the tail")
	}
	s.drained(flights)
	if f, ok := s.front(); !ok || f.seq != 2*flights {
		t.Errorf("tail %+v", f)
	}
	s.drained(2 * flights)
	if f, ok := s.front(); ok {
		t.Errorf("still in flight: %+v", f)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s.push(flight{seq: 2*flights + 1, event: s.next(), ctx: t.Context()})
	s.push(flight{seq: 2*flights + 2, event: s.next(), ctx: ctx})
	if _, ok := s.expired(time.Now()); ok {
		t.Error("a run is late")
	}
	cancel()
	if f, ok := s.expired(time.Now()); !ok || f.seq != 2*flights+2 {
		t.Error("the cancelled run after another was not seen")
	}
}

func TestClassify(t *testing.T) {
	for _, x := range []struct {
		err  error
		kind uint32
		rank uint32
	}{
		{errors.New("x"), kindOther, 0},
		{fmt.Errorf("run: %w", context.Canceled), kindCanceled, 0},
		{fmt.Errorf("run: %w", context.DeadlineExceeded), kindDeadline, 0},
		{fmt.Errorf("run: %w", &store.GoneError{Rank: 3}), kindGone, 3},
	} {
		if kind, rank := classify(x.err); kind != x.kind || rank != x.rank {
			t.Errorf("%v: %d, %d", x.err, kind, rank)
		}
	}
}
