// Command llama serves a model of Llama's architecture, cut over several ranks, by OpenAI's completions requests.
//
//	llama -model DIR -ranks 4
//	curl localhost:8080/v1/completions -d '{"model": "DIR", "prompt": [128000, 9906], "stream": true}'
//
// docs/llama.md walks through it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"ovgen/runtime/device"
	"ovgen/runtime/driver"
	_ "ovgen/runtime/driver/cuda"
	_ "ovgen/runtime/dump"
	"ovgen/runtime/group"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	mine, err := RankProcess(ctx)
	if !mine && err == nil {
		err = run(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "llama:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	s := Usual
	flag.StringVar(&s.Dir, "model", "", "the `folder` of config.json and model.safetensors")
	flag.IntVar(&s.Ranks, "ranks", s.Ranks, "how many ranks the model is cut for")
	flag.IntVar(&s.Sequences, "sequences", s.Sequences, "requests at a time")
	flag.IntVar(&s.Room, "room", s.Room, "tokens of a request, with its answer; at most the model's positions")
	flag.BoolVar(&s.Processes, "processes", false, "start a process a rank, instead of a goroutine a rank in this one")
	flag.DurationVar(&s.Timeout, "timeout", group.DefaultTimeout, "most that a step takes; then the ranks start again")
	typ := flag.String("type", "bf16", "element type: bf16 or fp32")
	weights := flag.String("weights", "", "fp8: layers' weights get eight bits as they are read; in a checkpoint that "+
		"says so they have them")
	addr := flag.String("addr", "localhost:8080", "where to listen")
	flag.Parse()
	var known bool
	if s.Type, known = driver.ParseType(*typ); !known || s.Type != device.BF16 && s.Type != device.FP32 {
		return fmt.Errorf("-type %s: it is bf16 or fp32", *typ)
	}
	switch *weights {
	case "fp8":
		s.Weights = device.E4M3
	case "":
	default:
		return fmt.Errorf("-weights %s: it is fp8, or left out", *weights)
	}
	if s.Dir == "" || flag.NArg() > 0 {
		return errors.New("-model is needed, and nothing but flags (-h lists them)")
	}
	listener, err := net.Listen("tcp", *addr)
	if err != nil {
		return err
	}
	server := NewServer(filepath.Base(s.Dir), s.Start)
	log.Printf("model %q at http://%v/v1/completions", server.model, listener.Addr())
	web := server.Web()
	go func() {
		if err := web.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.Fatal(err)
		}
	}()
	err = server.Run(ctx)
	bound, done := context.WithTimeout(context.Background(), 5*time.Second)
	defer done()
	_ = web.Shutdown(bound) // streams that go on past it are cut
	return err
}
