// Command cmd judges every mutant of every schedule of the catalog, of the templates of device code, of emitted Go and
// of hand-written code, and prints them. The last lines are the score of each kind, with the time that it took, and the
// score of all. It fails where a mutant survives. It runs in the root of the module.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"

	"ovgen/schedule/catalog"
	"ovgen/verify/mutate"
)

// named must match the name of a schedule, or of a mutant of kernels, packages or code.
var named = regexp.MustCompile("")

// kind is a kind of mutants, and the function that judges them.
type kind struct {
	name  string
	judge func(score mutate.Score, all bool) error
}

var kinds = []kind{{"schedules", schedules}, {"kernels", kernels}, {"packages", packages}, {"code", code}}

func main() {
	all := flag.Bool("v", false, "say of each mutant caught what it breaks, in full")
	flag.Func("run", "judge only schedules, and mutants of kernels and packages, whose name matches this `expression`",
		func(text string) (err error) { named, err = regexp.Compile(text); return err })
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(),
			"usage: mutants [-v] [-run EXPRESSION] [schedules] [kernels] [packages] [code]; without a kind, all")
		flag.PrintDefaults()
	}
	flag.Parse()
	for _, name := range flag.Args() {
		if !slices.ContainsFunc(kinds, func(k kind) bool { return k.name == name }) {
			flag.Usage()
			os.Exit(2)
		}
	}
	total, lines, failed := mutate.Score{}, "", false
	for _, k := range kinds {
		if flag.NArg() > 0 && !slices.Contains(flag.Args(), k.name) {
			continue
		}
		score, from, began := mutate.Score{}, cpuTime(), time.Now()
		if err := k.judge(score, *all); err != nil {
			fmt.Fprintf(os.Stderr, "mutants of %s: %v\n", k.name, err)
			failed = true
		}
		lines += fmt.Sprintf("%s: %s; %.0f s of CPU time in %.0f s\n", k.name, score, (cpuTime() - from).Seconds(),
			time.Since(began).Seconds())
		total.Add(score)
	}
	fmt.Print(lines, total, "\n")
	if failed {
		os.Exit(2)
	}
	if total[mutate.Survivor] > 0 {
		os.Exit(1)
	}
}

// cpuTime is the time that this program and the programs that it ran have taken, on all cores.
func cpuTime() (all time.Duration) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var used syscall.Rusage
		if err := syscall.Getrusage(who, &used); err == nil {
			all += time.Duration(used.Utime.Nano() + used.Stime.Nano())
		}
	}
	return all
}

// schedules judges the mutants of host programs, and of the operations made from them.
func schedules(score mutate.Score, all bool) error {
	for _, s := range catalog.All() {
		if !named.MatchString(s.Name) {
			continue
		}
		list, err := mutate.Schedule(s.Name, s.Schedule, mutate.Prove)
		if err != nil {
			return err
		}
		score.Print(os.Stdout, list, all)
	}
	return nil
}

// kernels judges the mutants of the templates of device code.
func kernels(score mutate.Score, _ bool) error {
	of, err := mutate.NewKernelJudge(context.Background(), "templates")
	if err != nil {
		return err
	}
	return errors.Join(judge(score, mutate.Kernels, of.Judge), of.Close())
}

// packages judges the mutants of emitted Go.
func packages(score mutate.Score, _ bool) error {
	return judge(score, mutate.Packages, in("generated", mutate.JudgePackage))
}

// code judges the mutants of hand-written code.
func code(score mutate.Score, _ bool) error {
	return judge(score, mutate.Code, in(".", mutate.JudgeCode))
}

// cores is the number of cores for the tests of one mutant: their threads must run side by side, or a wait may end by
// its deadline and be taken for a mistake that was noticed. On a small machine two mutants share the cores, since
// compilers take one core each.
const cores = 8

// in returns a judge of mutants of files in a folder.
func in[M any](dir string, of func(context.Context, string, M) (mutate.Class, string, error)) func(context.Context,
	M) (mutate.Class, string, error) {
	return func(ctx context.Context, m M) (mutate.Class, string, error) { return of(ctx, dir, m) }
}

// judge judges mutants of the text of files, and prints each when it is judged. The error lists the mutants without a
// verdict.
func judge[M interface{ Name() string }](score mutate.Score, list []M,
	of func(context.Context, M) (mutate.Class, string, error)) error {
	list = slices.DeleteFunc(slices.Clone(list), func(m M) bool { return !named.MatchString(m.Name()) })
	var one sync.Mutex
	var without []error
	_, err := mutate.Each(list, max(2, runtime.GOMAXPROCS(0)/cores), func(m M) (mutate.Class, error) {
		class, why, err := of(context.Background(), m)
		one.Lock()
		defer one.Unlock()
		if err != nil {
			without = append(without, err)
			return class, nil
		}
		score[class]++
		fmt.Printf("%-8s %s\n         %s\n", class, m.Name(), why)
		return class, nil
	})
	return errors.Join(append(without, err)...)
}
