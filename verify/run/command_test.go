package run

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ovgen/generated/programs"
	"ovgen/runtime/driver"
	"ovgen/runtime/launcher"
	"ovgen/verify/harness"
	"ovgen/verify/sampling"
)

// generated is a program of the catalogue.
func generated(t *testing.T, name string) harness.Program {
	t.Helper()
	i := slices.IndexFunc(programs.All, func(p harness.Program) bool { return p.Name == name })
	if i < 0 {
		t.Fatalf("no program %s", name)
	}
	return programs.All[i]
}

type parseCase struct{ args, want string }

var parseCases = []parseCase{
	{"", "usage"}, {"help", "help"}, {"verify -h", "help"}, {"run", `no command "run"`},
	{"list", ""}, {"list -json", ""}, {"list all", "list takes no name"},
	{"list -devices", ""}, {"list -devices -driver sim -ranks 2", ""},
	{"list -devices -json", "list -devices has no flag -json (list, verify, bench, tune, layers)"},
	{"list -devices -m 8", "list -devices has no flag -m (list, verify"},
	{"list -driver sim", "list has no flag -driver (verify, same, bench, tune, trace, layers, list -devices)"},
	{"verify all -devices", "verify has no flag -devices (list -devices)"},
	{"list -ranks 2", ""}, {"list -m 9", ""}, {"list -iters 2", "list has no flag -iters (verify, bench, tune)"},
	{"verify all -o x", "verify has no flag -o (tune, trace)"},
	{"bench all -delays", "bench has no flag -delays (verify, same)"},
	{"trace allgatherlinear -json", "trace has no flag -json"},
	{"layers allgatherlinear other -buckets 3 -m 24 -k 8 -n 8 -json", ""},
	{"layers allgatherlinear -buckets 3 -m 20 -k 8 -n 8", ""},
	{"layers allgatherlinear -buckets 3 -m 21 -k 8 -n 8",
		"M is 21, and must be a multiple of 4 for allgatherlinear"},
	{"layers allgatherlinear -shapes 8,8,8;16,8,8", "layers takes one shape, not 2"},
	{"layers allgatherlinear -layers 0", "-layers 0, -buckets 20: at least 1 of each"},
	{"layers allgatherlinear -seed 2", "layers has no flag -seed (verify, same, bench, tune, trace)"},
	{"tune all -hosts 2", "tune has no flag -hosts (verify, bench, trace, layers)"},
	{"bench all -network 45", "-network 45: it takes -hosts of at least 2, and a rate"},
	{"verify all -hosts 2 -network 45", "verify has no flag -network (bench, trace)"},
	{"verify all -hosts 3", "-hosts 3: it must divide the 4 ranks"}, {"verify all -hosts 0", "-hosts 0: it must"},
	{"verify allgatherlinear -hosts 2", "allgatherlinear is for ranks of one host, and this group's are on 2 (use a"},
	{"verify all -oneprocess -ranks 2", ""}, {"list -oneprocess", "list has no flag -oneprocess"},
	{"verify all -layers 3", "verify has no flag -layers (layers)"},
	{"trace allgatherlinear -iters 2", "trace has no flag -iters"},
	{"tune all -nosteps", "tune has no flag -nosteps (bench)"},
	{"trace allgatherlinear -shapes 8,8,8;16,8,8", "trace takes one shape, not 2"},
	{"trace allgatherlinear -type bf16,fp32", "trace takes one type"},
	{"trace other -type bf16", "trace other: it takes [fp32] only"},
	{"verify other -type bf16", "-type bf16: no program that was named takes it"},
	{"verify even -ranks 2", ""},
	{"verify even -ranks 3", "even is proven for groups of 2, 4 ranks, not of 3"},
	{"verify all -ranks 8", "not of 8"},
	{"verify", "verify what? (all, allgatherlinear, other, even)"},
	{"verify nosuch", `no program "nosuch"`},
	{"verify all -m 8 -k 4 -n 4 other", ""}, {"verify -ranks 2 all", ""},
	{"verify all -m 8", "K is 0, and allgatherlinear needs it to be positive"},
	{"verify all -m -8 -k 4 -n 4", "M is -8, and"},
	{"verify all -m 9 -k 4 -n 4", "M is 9, and must be a multiple of 4 for allgatherlinear on 4 ranks"},
	{"verify other -m 9", ""},
	{"bench all -shapes 8,8,8;16,8,8", ""}, {"bench all -shapes 8,8", `shape "8,8" is not m,k,n`},
	{"bench all -shapes 8,x,8", `"x" is no number`},
	{"bench all -type bf16,fp32", ""}, {"bench allgatherlinear,other other", ""},
	{"bench other,nosuch", `no program "nosuch"`}, {"bench all -type fp8", `no type "fp8"`},
	{"list -m 0", "-m, -k, -n: each is 0"}, {"bench all -k 0 -m 0", "-m, -k, -n: each is 0"},
	{"verify all -driver gpu", `no driver "gpu"`}, {"verify all -ranks 0", "-ranks 0: at least 1"},
	{"verify all -extents N2=8", "no program that was named has an extent N2"},
	{"verify all -extents K=8", `"K" is none of [N2 N3 F W P] (m, k and n have flags of their own)`},
	{"verify all -extents N2", `"N2" is not NAME=NUMBER`},
	{"verify all -iters -1", "must be positive"},
	{"verify all -nosuch", "verify: flag provided but not defined"},
	{"verify all -timeout 0s", "must be positive"},
}

func TestParse(t *testing.T) {
	programs := []harness.Program{generated(t, "allgatherlinear"),
		{Name: "other", Types: []driver.Type{driver.FP32}},
		{Name: "even", Types: []driver.Type{driver.FP32}, Ranks: []int{2, 4}}}
	for _, x := range parseCases {
		c, err := parse(strings.Fields(x.args), programs)
		switch {
		case x.want == "" && err != nil:
			t.Errorf("%s: %v", x.args, err)
		case x.want != "" && (err == nil || !strings.Contains(err.Error(), x.want)):
			t.Errorf("%s: %v, want %q", x.args, err, x.want)
		}
		if v, is := c.(*verifyCommand); x.args == "verify all -m 8 -k 4 -n 4 other" &&
			(!is || len(v.arguments) != 4 || len(v.programs) != 4 ||
				v.shapes[0] != harness.Shape{M: 8, K: 4, N: 4}) {
			t.Errorf("%s: %+v", x.args, c)
		}
	}
	var v verifyCommand
	v.types = []driver.Type{driver.BF16, driver.FP32}
	if got := v.typesOf(&programs[1]); len(got) != 1 || got[0] != driver.FP32 {
		t.Errorf("a program of fp32 runs in %v", got)
	}
}

func TestMedian(t *testing.T) {
	for _, x := range []struct {
		in   []float64
		want float64
	}{{[]float64{3}, 3}, {[]float64{1, 2}, 1.5}, {[]float64{1, 2, 9}, 2}} {
		if got := median(x.in); got != x.want {
			t.Errorf("median(%v) = %g", x.in, got)
		}
	}
}

// scratch is removed at the end.
var scratch string

// built is generated/run, built once.
var built = sync.OnceValues(func() (string, error) {
	run := filepath.Join(scratch, "run")
	if out, err := exec.Command("go", "build", "-o", run, "ovgen/generated/run").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return run, nil
})

func TestMain(m *testing.M) {
	var err error
	if scratch, err = os.MkdirTemp("", "ovgen"); err != nil {
		panic(err)
	}
	status := m.Run()
	os.RemoveAll(scratch)
	os.Exit(status)
}

// marked lists the processes whose environment holds a text, and one's job.
func marked(text string) (pids []int, job string) {
	all, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range all {
		b, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(b, []byte(text)) {
			continue
		}
		var pid int
		fmt.Sscanf(path, "/proc/%d/", &pid)
		pids = append(pids, pid)
		if _, rest, found := bytes.Cut(b, []byte(launcher.EnvJob+"=")); found {
			end, _, _ := bytes.Cut(rest, []byte{0})
			job = string(end)
		}
	}
	return pids, job
}

// TestInterrupted sends SIGINT to a long verification: no process and no socket is left.
func TestInterrupted(t *testing.T) {
	sampling.Test(t, 0, 3)
	run, err := built()
	if err != nil {
		t.Fatal(err)
	}
	mark := fmt.Sprintf("OVGEN_TEST_MARK=%d-%d", os.Getpid(), time.Now().UnixNano())
	c := exec.Command(run, "verify", "all", "-driver", "sim", "-ranks", "3", "-iters", "1000000")
	c.Env = append(os.Environ(), mark)
	var said bytes.Buffer
	c.Stderr, c.Stdout = &said, &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	job := ""
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		pids, j := marked(mark)
		if len(pids) == 4 {
			job = j
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%d processes came", len(pids))
		}
	}
	time.Sleep(300 * time.Millisecond) // into the runs
	began := time.Now()
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	err = c.Wait()
	if took := time.Since(began); took > 5*time.Second || err == nil ||
		!strings.Contains(said.String(), "interrupted") {
		t.Errorf("ended after %v with %v: %s", took, err, &said)
	}
	if pids, _ := marked(mark); len(pids) > 0 {
		t.Errorf("processes %v are left", pids)
	}
	sockets, err := os.ReadFile("/proc/net/unix")
	if err != nil || job == "" || bytes.Contains(sockets, []byte(job)) {
		t.Errorf("a socket of job %q is left: %v", job, err)
	}
}

type commandCase struct {
	args   string
	status int
	want   []string
}

var commandCases = []commandCase{
	{"list", 0,
		[]string{"allgatherlinear ", "proven for D = 1..8", "130.1 MiB   128.0 MiB   A [DIDx(D), M/D, K]"}},
	{"list -devices -driver sim -ranks 2", 0, []string{"1       simulated device", "NVLink joins every pair"}},
	{"verify allgatherlinear allgatherlinearkernels allgathermatmul -driver sim -ranks 3 -iters 2", 0,
		[]string{"driver sim (asked for)", "allgathermatmul: proven for D = 1..8", "78,67,35", "real ",
			"within bound", "\nbit-exact: 108, within bound: 18 runs on 3 ranks, driver sim"}},
	{"verify -driver sim -delays -straggler allgatherlinearkernels -type bf16 -ranks 2 -iters 3 -json", 0,
		[]string{`"mode":"replayed","runs":3,"share":1,"result":"bit-exact"}`}},
	{"verify allgatherlinear allreduceoneshot -driver sim -ranks 3 -type bf16 -iters 1 -oneprocess", 0,
		[]string{"3 ranks on simulated device", "\nbit-exact: 12, within bound: 4 runs on 3 ranks, driver sim"}},
	{"verify linearallreducehosts -driver sim -ranks 2 -hosts 2 -type bf16 -iters 1 -shapes 2048,8,256", 0,
		[]string{"bit-exact"}},
	{"verify all -driver sim -ranks 4 -hosts 2 -type bf16 -iters 1", 0,
		[]string{"2 hosts of 2 ranks", "linearreducescatterhosts: proven for D = 1..8",
			"\nbit-exact: 24, within bound: 8 runs on 4 ranks, driver sim"}},
	{"verify rowparallellinear -driver sim -ranks 1 -type bf16 -iters 1", 0,
		[]string{"\nbit-exact: 6, within bound: 2 runs on 1 ranks, driver sim"}},
	{"verify allgathermatmul -driver sim -ranks 2 -type fp32 -iters 1 -m 512 -k 256 -n 256", 0,
		[]string{"bit-exact: 3 runs"}},
	{"same invariantmlp invariantmlppackets invariantmlptiles -driver sim -ranks 2 -shapes " +
		"2,32,24;8,32,24;32,32,24 -extents F=64", 0,
		[]string{"\n378 rows compared with 32, whose bits add up to ", ": 0 runs of ranks have others"}},
	{"same linearreducescatter linearreducescatterring -driver sim -ranks 3 -shapes 6,96,24;12,96,24 -oneprocess", 1,
		[]string{"linearreducescatterring, 6,96,24, eager, rank 0: row 0 of C has other bits than of " +
			"linearreducescatter, 6,96,24, eager, rank 0 ("}},
	{"same invariantmlp linearreducescatter -driver sim -ranks 2 -m 2 -k 32 -n 24", 2,
		[]string{"linearreducescatter has other tensors than invariantmlp"}},
	{"bench allgatherlinear -driver sim -ranks 2 -iters 2 -nosteps -m 64 -k 64 -n 64", 0,
		[]string{"simulated: these times say nothing of a GPU's", "pure, gated",
			"replayed, nosteps, gated"}},
	{"bench allgatherlinear allgatherlinearkernels allgathermatmul -driver sim -ranks 2 -iters 1 " +
		"-m 8 -k 8 -n 8 -json", 0,
		[]string{`"variant":"copies","gated":true`}},
	{"bench linearallreducesquaresfp8 -driver sim -ranks 2 -iters 1 -type bf16 -m 4 -k 512 -n 256", 0,
		[]string{"copies, gated"}},
	{"bench linearreducescatterhosts allreducehosts -driver sim -ranks 4 -hosts 2 -network 1 -iters 1 " +
		"-m 8 -k 8 -n 8", 0,
		[]string{"each exchange waits 25µs and its bytes at 1 GB/s", "4 ranks of 2 hosts", "network, gated",
			"serial  ", "all-reduce of"}},
	{"bench allgatherlinear,allgatherlinearkernels -driver sim -ranks 2 -iters 1 -m 8 -k 8 -n 8", 0,
		[]string{"allgatherlinear replayed, gated", "allgatherlinearkernels eager"}},
	{"layers allgatherlinear linearallreducetwoshot -driver sim -ranks 2 -layers 3 -buckets 2", 0,
		[]string{"3 layers, 2 operations, 2 buckets of 8 to 16 rows: 4 plans", "Bind, layer by layer  12",
			"first Replay of a layer   6", "capture of a bucket   2", "workspaces 64.0 MiB"}},
	{"layers allgatherlinearhandlesinloop -driver sim -ranks 2 -layers 2 -buckets 1 -json", 0,
		[]string{`"new_us":{"n":1,`, `"bind_again_us":{"n":2,`, `"capture_us":{"n":0,`}},
	{"layers allgatherlinear -driver sim -ranks 2 -buckets 5 -m 8 -k 8 -n 8", 2,
		[]string{"allgatherlinear has 4 different numbers of rows (-buckets 4, or more rows)"}},
	{"layers allgatherlinear -driver sim -ranks 2 -m 8192 -k 8192 -n 8192", 2,
		[]string{"layers allgatherlinear, 410,8192,8192 bf16: the simulator would take about"}},
	{"bench allgatherlinear -driver sim -ranks 2 -m 8192 -k 8192 -n 8192", 2,
		[]string{"the simulator would take about", "-long to insist"}},
	{"verify allgatherlinear -driver sim -ranks 2 -type bf16 -m 8192 -k 8192 -n 8192", 2,
		[]string{"verify allgatherlinear, 8192,8192,8192 bf16: the simulator would take about"}},
	{"verify allgatherqkv -driver sim -ranks 2 -type bf16 -iters 1 -m 16 -k 32 -n 64 -extents N2=24,N3=40",
		0, []string{"64,N2=24,N3=40", "bit-exact: 3, within bound: 1 runs"}},
	{"verify allgatherqkv -driver sim -ranks 2 -type bf16 -iters 1 -extents N2=24,N3=40 -json", 0,
		[]string{`"n":48,"n2":24,"n3":40,`}},
	{"verify tensorparallelmlp -driver sim -ranks 2 -type bf16 -iters 1 -m 16 -k 32 -n 24 -extents F=96", 0,
		[]string{"16,32,24,F=96"}},
	{"bench allgatherqkv -driver sim -ranks 2 -iters 1 -m 16 -k 32 -n 64 -extents N2=24,N3=40 -json", 0,
		[]string{`"n":64,"n2":24,"n3":40,`}},
	{"verify allgatherv -driver sim -ranks 2 -type bf16 -iters 1", 0,
		[]string{"no rows", "one part", "bit-exact: 18 runs"}},
	{"list -json", 0, []string{`{"program":"allgather","proof":"proven for D = `,
		`"tensors":[{"name":"A","placement":"[DIDx(D), M/D, N]"}`}},
	{"list -devices -driver sim", 0, []string{"simulated device", "NVLink joins every pair: every program runs."}},
	{"", 2, []string{"usage: run list"}},
	{"bench allgatherlinear,allgathermatmul -driver sim -ranks 2 -iters 1 -m 8 -k 8 -n 8", 2,
		[]string{"allgatherlinear and allgathermatmul are not the same operation"}},
	{"bench allgatherlinear allgatherlinearquantised -inturn -driver sim -ranks 2 -iters 1 -m 64 -k 64 -n 64", 0,
		[]string{"allgatherlinear 64,64,64 bf16, 2 ranks", "allgatherlinearquantised 64,64,64 bf16, 2 ranks"}},
	{"bench allreducepackets,allreducepackets -driver sim -ranks 2 -type bf16 -iters 1 -m 128 -n 2048", 0,
		[]string{"allreducepackets, allreducepackets all-reduce of 524288 bytes"}},
	{"verify nosuch", 2, []string{`run: no program "nosuch"`}},
}

// TestCommands builds generated/run and runs it in processes.
func TestCommands(t *testing.T) {
	run, err := built()
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range commandCases {
		out, err := exec.Command(run, strings.Fields(x.args)...).CombinedOutput()
		status := 0
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			status = exit.ExitCode()
		}
		if status != x.status {
			t.Errorf("run %s: status %d, want %d\n%s", x.args, status, x.status, out)
		}
		if strings.Contains(string(out), "effic") {
			t.Errorf("run %s: an efficiency of simulated times in\n%s", x.args, out)
		}
		for _, w := range x.want {
			if !strings.Contains(string(out), w) {
				t.Errorf("run %s: no %q in\n%s", x.args, w, out)
			}
		}
	}
	for _, more := range [][]string{nil, {"-oneprocess"}} {
		failed := exec.Command(run, append([]string{"verify", "all", "-driver", "sim", "-ranks", "3"}, more...)...)
		failed.Env = append(failed.Environ(), "OVGEN_SIM_DEVICES=1")
		if out, err := failed.CombinedOutput(); err == nil ||
			strings.Count(string(out), "sim has 1 devices, 3 are needed") != 1 {
			t.Errorf("%v: trouble is not said once: %v\n%s", more, err, out)
		}
	}
	rank := exec.Command(run, "verify", "all", "-oneprocess")
	rank.Env = append(rank.Environ(), launcher.EnvRank+"=0", launcher.EnvSize+"=2")
	if out, err := rank.CombinedOutput(); err == nil ||
		!strings.Contains(string(out), "-oneprocess starts all ranks itself") {
		t.Errorf("a rank of a launcher: %v\n%s", err, out)
	}
}

// TestSameBits: with a process a rank and with all ranks in one, rows have the same bits, and with another seed others.
func TestSameBits(t *testing.T) {
	run, err := built()
	if err != nil {
		t.Fatal(err)
	}
	var bits []string
	for _, more := range [][]string{nil, {"-oneprocess"}, {"-seed", "2"}} {
		args := strings.Fields("same linearreducescatter -driver sim -ranks 2 -m 4 -k 16 -n 8")
		out, err := exec.Command(run, append(args, more...)...).CombinedOutput()
		_, after, ok := strings.Cut(string(out), "whose bits add up to ")
		if err != nil || !ok {
			t.Fatalf("%v: %v\n%s", more, err, out)
		}
		bits = append(bits, strings.Split(after, ":")[0])
	}
	if bits[0] != bits[1] || bits[0] == bits[2] {
		t.Errorf("bits %v, want the first two equal alone", bits)
	}
}

// TestMpirun starts the ranks by Open MPI.
func TestMpirun(t *testing.T) {
	sampling.Test(t, 1, 3)
	mpirun, err := exec.LookPath("mpirun")
	if err != nil {
		t.Skipf("no mpirun on this machine: %v", err)
	}
	run, err := built()
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		args string
		fine bool
		once string
	}{
		{"verify allgatherlinear -driver sim -type bf16 -iters 1 -shapes 6,8,8", true,
			"bit-exact: 4 runs on 3 ranks, driver sim"},
		{"verify allgatherlinear -driver nosuch", false, `run: no driver "nosuch"`},
	} {
		args := append(strings.Fields("--allow-run-as-root --oversubscribe -n 3"), run)
		out, err := exec.Command(mpirun, append(args, strings.Fields(x.args)...)...).CombinedOutput()
		if (err == nil) != x.fine || strings.Count(string(out), x.once) != 1 {
			t.Errorf("mpirun run %s: %v\n%s", x.args, err, out)
		}
	}
	one := exec.Command(mpirun,
		append(strings.Fields("--allow-run-as-root --oversubscribe -n 2"), run, "verify", "allgatherlinear",
			"-driver", "sim")...)
	one.Env = append(one.Environ(), "OVGEN_SIM_DEVICES=1")
	if out, err := one.CombinedOutput(); err == nil ||
		strings.Count(string(out), "sim has 1 devices, 2 are needed") != 1 {
		t.Errorf("trouble is not said once: %v\n%s", err, out)
	}
}
