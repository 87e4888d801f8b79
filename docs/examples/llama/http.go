package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"time"
)

// Server answers OpenAI's completions requests with an engine.
type Server struct {
	Engine *Engine
	Model  string
}

// completion is a request; fields that are neither here nor in onlyRequests are ignored.
type completion struct {
	Model  string `json:"model"`
	Prompt any    `json:"prompt"`
	Most   int    `json:"max_tokens"`
	Stream bool   `json:"stream"`
}

// onlyRequests are fields that would change the answer, with the values that are served.
var onlyRequests = map[string]any{"temperature": 0.0, "n": 1.0, "echo": false, "logprobs": nil, "stop": nil}

// Reply is an answer, and in a stream a part of it.
type Reply struct {
	ID      string         `json:"id"`
	Object  string         `json:"object"`
	Created int64          `json:"created"`
	Model   string         `json:"model"`
	Choices []Choice       `json:"choices"`
	Usage   map[string]int `json:"usage,omitempty"`
}

// Choice is the tokens, which OpenAI's replies lack. A text would take a tokenizer: it is empty.
type Choice struct {
	Index    int     `json:"index"`
	Text     string  `json:"text"`
	Tokens   []int   `json:"token_ids"`
	Logprobs *int    `json:"logprobs"`
	Finish   *string `json:"finish_reason"`
}

// Problem is an error with the status that clients get.
type Problem struct {
	Status  int
	Message string
}

// Error is the message.
func (p *Problem) Error() string { return p.Message }

// described is an error as clients read it, and its status.
func described(err error) (status int, body any) {
	status, kind := http.StatusInternalServerError, "server_error"
	if p := (*Problem)(nil); errors.As(err, &p) {
		status = p.Status
	}
	if status < 500 {
		kind = "invalid_request_error"
	}
	return status, map[string]any{"error": map[string]string{"message": err.Error(), "type": kind}}
}

// Handler has the server's paths.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	for pattern, answer := range map[string]func(http.ResponseWriter, *http.Request) error{
		"POST /v1/completions": s.complete,
		"GET /health": func(http.ResponseWriter, *http.Request) error {
			_, err := s.Engine.Crew()
			return err
		},
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if err := answer(w, r); err != nil {
				status, body := described(err)
				send(w, status, body)
			}
		})
	}
	return mux
}

func send(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // a client that is gone needs no answer
}

// mostBody bounds a request in bytes.
const mostBody = 16 << 20

// parse reads a request and the tokens of its prompt.
func (s *Server) parse(r *http.Request, crew *Crew) (c completion, tokens []int, err error) {
	c.Most = 16
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, mostBody))
	status := http.StatusBadRequest
	if err = cmp.Or(err, readJSON(body, &c, onlyRequests)); err == nil {
		tokens, err = parseTokens(c.Prompt, crew.Vocabulary)
	}
	switch {
	case err != nil:
	case c.Model != s.Model:
		status, err = http.StatusNotFound, fmt.Errorf("there is no model %q (there is %q)", c.Model, s.Model)
	case c.Most < 1:
		err = fmt.Errorf("max_tokens is %d (at least 1 is made)", c.Most)
	case len(tokens) >= crew.Room:
		status, err = http.StatusRequestEntityTooLarge, fmt.Errorf("prompt has %d tokens, and a sequence has room "+
			"for %d with its answer", len(tokens), crew.Room)
	default:
		return c, tokens, nil
	}
	return c, nil, &Problem{status, err.Error()}
}

// parseTokens are those of a prompt.
func parseTokens(prompt any, vocabulary int) (tokens []int, err error) {
	list, _ := prompt.([]any)
	if len(list) == 0 {
		return nil, errors.New("prompt is not a list of token ids, or is empty (for text there is no tokenizer)")
	}
	for _, x := range list {
		token, number := x.(float64)
		if !number || token != math.Trunc(token) || token < 0 || token >= float64(vocabulary) {
			given, _ := json.Marshal(x) // it comes from JSON
			return nil, fmt.Errorf("prompt has %s, which is no token of the vocabulary of %d", given, vocabulary)
		}
		tokens = append(tokens, int(token))
	}
	return tokens, nil
}

// complete answers a request. An error that it returns is the answer; a later one is the last event of the stream.
func (s *Server) complete(w http.ResponseWriter, r *http.Request) error {
	crew, err := s.Engine.Crew()
	if err != nil {
		return err
	}
	c, prompt, err := s.parse(r, crew)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel() // gives the request up, however the answer ends
	q, err := s.Engine.Submit(ctx, prompt, c.Most)
	if err != nil {
		return err
	}
	reply := Reply{ID: "cmpl-" + rand.Text(), Object: "text_completion", Created: time.Now().Unix(), Model: s.Model}
	n, rest := 0, []int{} // what was not streamed
	for token := range q.Tokens {
		n++
		if reply.Choices = []Choice{{Tokens: []int{token}}}; !c.Stream {
			rest = append(rest, token)
		} else if event(w, reply) != nil {
			return nil // the client has gone
		}
	}
	if q.Err != nil && (!c.Stream || n == 0) {
		return q.Err
	}
	reply.Choices = []Choice{{Tokens: rest, Finish: &q.Finish}}
	reply.Usage = map[string]int{"prompt_tokens": len(prompt), "completion_tokens": n, "total_tokens": len(prompt) + n}
	if !c.Stream {
		send(w, http.StatusOK, reply)
		return nil
	}
	var last any = reply
	if q.Err != nil {
		_, last = described(q.Err)
	}
	_ = event(w, last)
	_, _ = fmt.Fprint(w, "data: [DONE]\n\n")
	return nil
}

// event writes one event of a stream.
func event(w http.ResponseWriter, x any) error {
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	_ = out.SetWriteDeadline(time.Now().Add(10 * time.Second)) // so that a client that does not read is given up
	b, err := json.Marshal(x)
	if err == nil {
		_, err = fmt.Fprintf(w, "data: %s\n\n", b)
	}
	return cmp.Or(err, out.Flush())
}
