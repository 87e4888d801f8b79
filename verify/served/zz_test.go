package served

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"testing"
	"time"

	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/verify/explore"
	"ovgen/verify/prove"
)

func TestZZ(t *testing.T) {
	from, change := regexp.MustCompile(os.Getenv("ZFROM")), regexp.MustCompile(os.Getenv("ZCH"))
	for _, x := range tables() {
		if !from.MatchString(x.name) {
			continue
		}
		for _, e := range x.edits() {
			if !change.MatchString(e.name) {
				continue
			}
			sc := e.of(x.form).Schedule
			if os.Getenv("ZLIST") != "" {
				fmt.Println(x.name, "|", e.name)
				continue
			}
			b := become(t, sc, []int{1, 2, 3})
			if os.Getenv("ZALL") == "" && b.wrong == "" && !b.hole {
				continue
			}
			w := b.wrong
			if len(w) > zmax() {
				w = w[:zmax()]
			}
			fmt.Printf("### %s | %s\n    %v hole %v proven %v explored %v %s\n", x.name, e.name, sc, b.hole, b.proven, b.explored, w)
		}
	}
}

func TestZDraw(t *testing.T) {
	seed, _ := strconv.ParseUint(os.Getenv("ZSEED"), 10, 64)
	n, _ := strconv.Atoi(os.Getenv("ZN"))
	list, r := tables(), rand.New(rand.NewPCG(seed, 0))
	var y tally
	for i := range n {
		x := list[r.IntN(len(list))]
		e := x.anyEdit(r)
		sc := e.of(x.form).Schedule
		begin := time.Now()
		b := become(t, sc, []int{2, 3})
		if d := time.Since(begin); d > 20*time.Second {
			fmt.Printf("slow %v %s | %s\n", d, x.name, e.name)
		}
		y.Changed++
		if b.lowered {
			y.Lowered++
		}
		if b.proven {
			y.Proven++
		}
		if b.explored {
			y.Explored++
		}
		if b.hole {
			y.Holes++
		}
		if b.wrong != "" {
			y.Wrong++
			fmt.Printf("### draw %d: %s | %s\n    %v\n%s\n", i, x.name, e.name, sc, b.wrong)
		}
		if i%1000 == 999 {
			fmt.Printf("%v %+v\n", time.Now().Format(time.TimeOnly), y)
		}
	}
	fmt.Printf("end %+v\n", y)
}

func zmax() int {
	n, _ := strconv.Atoi(os.Getenv("ZMAX"))
	if n == 0 {
		n = 900
	}
	return n
}

func TestZShow(t *testing.T) {
	from, change := regexp.MustCompile(os.Getenv("ZFROM")), regexp.MustCompile(os.Getenv("ZCH"))
	for _, x := range tables() {
		if !from.MatchString(x.name) {
			continue
		}
		for _, e := range x.edits() {
			if !change.MatchString(e.name) {
				continue
			}
			sc := e.of(x.form).Schedule
			p, err := lower.Lower("X", sc)
			fmt.Println(x.name, e.name, sc, err)
			if err == nil {
				fmt.Println(hostir.Print(p))
				_, err = prove.Schedule(t.Context(), p, prove.Options{Ranks: []int{1, 2, 3}})
				fmt.Println("PROVE", err)
				l, err := explore.Small(p, []int{1, 2, 3}, false)
				fmt.Println("EXPLORE", l, err)
			}
			return
		}
	}
}
