// Command llama decodes with a model of Llama's architecture, cut over several ranks.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"

	_ "ovgen/runtime/driver/cuda"
	"ovgen/runtime/group"
	_ "ovgen/verify/sim"
)

func main() {
	dir := flag.String("model", "", "`folder` of config.json and model.safetensors")
	ranks := flag.Int("ranks", 1, "how many ranks the model is cut for")
	text := flag.String("prompt", "Hello", "text, a token a byte")
	n := flag.Int("n", 16, "tokens to make")
	flag.Parse()
	if err := run(context.Background(), *dir, *ranks, *text, *n); err != nil {
		fmt.Fprintln(os.Stderr, "llama:", err)
		os.Exit(1)
	}
}

// run prints the tokens that follow a text.
func run(ctx context.Context, dir string, ranks int, text string, n int) (err error) {
	o := Usual
	o.Sequences, o.Room, o.Prefill, o.Decode = 1, 512, []int{64}, []int{1}
	crew, err := Start(ctx, dir, o, group.Config{Size: ranks})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, crew.Close(ctx)) }()
	b := Batch{Prompt: true}
	for i, c := range []byte(text) {
		b.Add(int(c), 0, i)
	}
	for i := range n {
		next, err := crew.Step(ctx, b)
		if err != nil {
			return err
		}
		fmt.Println(next[0])
		b = Batch{}
		b.Add(int(next[0]), 0, len(text)+i)
	}
	return nil
}
