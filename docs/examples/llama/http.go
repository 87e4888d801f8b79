package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"
)

// Server answers OpenAI's completions requests with an engine.
type Server struct {
	Engine     *Engine
	Model      string
	Vocabulary int
	// Bytes says that a token below 256 is a byte, so that requests and replies may have text. Other models' text
	// takes a tokenizer: their requests and replies have token ids.
	Bytes bool
}

// completion is a request; fields that are not here are ignored.
type completion struct {
	Model       string          `json:"model"`
	Prompt      json.RawMessage `json:"prompt"`
	Most        int             `json:"max_tokens"`
	Stream      bool            `json:"stream"`
	StreamUsage struct {
		Include bool `json:"include_usage"`
	} `json:"stream_options"`
	Temperature float64         `json:"temperature"`
	N           int             `json:"n"`
	Echo        bool            `json:"echo"`
	Logprobs    *int            `json:"logprobs"`
	Stop        json.RawMessage `json:"stop"`

	prompt []int
	stops  []string
}

// Reply is an answer, and in a stream a part of it.
type Reply struct {
	ID      string   `json:"id"`
	Object  string   `json:"object"`
	Created int64    `json:"created"`
	Model   string   `json:"model"`
	Choices []Choice `json:"choices"`
	Usage   *Usage   `json:"usage,omitempty"`
}

// Choice is the text, and its tokens, which OpenAI's replies lack.
type Choice struct {
	Index    int     `json:"index"`
	Text     string  `json:"text"`
	Tokens   []int   `json:"token_ids"`
	Logprobs *int    `json:"logprobs"`
	Finish   *string `json:"finish_reason"`
}

// Usage counts tokens.
type Usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
}

// Problem is an error as clients read it.
type Problem struct {
	Status  int     `json:"-"`
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}

// Error is the message.
func (p *Problem) Error() string { return p.Message }

// What an engine says of requests that may be sent again.
var (
	ErrFull   = later(http.StatusTooManyRequests, "too many requests wait")
	ErrJoins  = later(http.StatusServiceUnavailable, "the ranks are joining")
	errDied   = later(http.StatusServiceUnavailable, "a rank died; the ranks join again")
	errClosed = later(http.StatusServiceUnavailable, "the server ends")
)

func later(status int, message string) error {
	return &Problem{Status: status, Message: message + " (try again later)", Type: "server_error"}
}

func bad(status int, param, format string, args ...any) error {
	return &Problem{Status: status, Message: param + ": " + fmt.Sprintf(format, args...), Type: "invalid_request_error",
		Param: &param}
}

// Handler has the server's paths.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/completions", func(w http.ResponseWriter, r *http.Request) {
		if err := s.complete(w, r); err != nil {
			fail(w, err)
		}
	})
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, r *http.Request) {
		send(w, http.StatusOK, map[string]any{"object": "list", "data": []any{
			map[string]any{"id": s.Model, "object": "model", "owned_by": "ovgen"}}})
	})
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, r *http.Request) {
		if !s.Engine.Ready() {
			fail(w, ErrJoins)
		}
	})
	return mux
}

func send(w http.ResponseWriter, status int, x any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(x) // a client that is gone needs no answer
}

// problem is any error as clients read it.
func problem(err error) *Problem {
	if p := (*Problem)(nil); errors.As(err, &p) {
		return p
	}
	return &Problem{Status: http.StatusInternalServerError, Message: err.Error(), Type: "server_error"}
}

func fail(w http.ResponseWriter, err error) {
	p := problem(err)
	if p.Status == http.StatusTooManyRequests || p.Status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	send(w, p.Status, map[string]any{"error": p})
}

// parse reads and checks a request.
func (s *Server) parse(r *http.Request) (*completion, error) {
	c := completion{Most: 16, N: 1}
	if err := json.NewDecoder(http.MaxBytesReader(nil, r.Body, 8<<20)).Decode(&c); err != nil {
		return nil, bad(http.StatusBadRequest, "body", "%v", err)
	}
	switch {
	case c.Model != s.Model:
		return nil, bad(http.StatusNotFound, "model", "there is no model %q (there is %q)", c.Model, s.Model)
	case c.Most < 1:
		return nil, bad(http.StatusBadRequest, "max_tokens", "it is %d, and at least 1 is made", c.Most)
	case c.Temperature != 0:
		return nil, bad(http.StatusBadRequest, "temperature", "it is %g, and only 0 is served", c.Temperature)
	case c.N != 1:
		return nil, bad(http.StatusBadRequest, "n", "it is %d, and only 1 is served", c.N)
	case c.Echo:
		return nil, bad(http.StatusBadRequest, "echo", "only false is served")
	case c.Logprobs != nil:
		return nil, bad(http.StatusBadRequest, "logprobs", "only null is served")
	}
	if err := s.readPrompt(&c); err != nil {
		return nil, err
	}
	return &c, c.readStops()
}

// readPrompt takes text, token ids, or a list of one of them.
func (s *Server) readPrompt(c *completion) error {
	var list []json.RawMessage
	if json.Unmarshal(c.Prompt, &list) == nil && len(list) == 1 && strings.ContainsRune(`["`, rune(list[0][0])) {
		c.Prompt = list[0]
	}
	var text string
	isText := c.Prompt != nil && json.Unmarshal(c.Prompt, &text) == nil
	for _, b := range []byte(text) {
		c.prompt = append(c.prompt, int(b))
	}
	switch {
	case isText && !s.Bytes:
		return bad(http.StatusBadRequest, "prompt", "it is text, and the server has no tokenizer (send token ids)")
	case !isText && json.Unmarshal(c.Prompt, &c.prompt) != nil:
		return bad(http.StatusBadRequest, "prompt", "it is neither one text nor one list of token ids")
	case len(c.prompt) == 0:
		return bad(http.StatusBadRequest, "prompt", "it is empty")
	}
	for _, token := range c.prompt {
		if token < 0 || token >= s.Vocabulary {
			return bad(http.StatusBadRequest, "prompt", "token %d is not in the vocabulary of %d", token, s.Vocabulary)
		}
	}
	if room := s.Engine.Room; len(c.prompt) >= room {
		return bad(http.StatusRequestEntityTooLarge, "prompt", "it has %d tokens, and a sequence has room for %d with "+
			"its answer", len(c.prompt), room)
	}
	return nil
}

// readStops takes a text or a list of texts.
func (c *completion) readStops() error {
	var one string
	if c.Stop == nil || json.Unmarshal(c.Stop, &c.stops) == nil {
		return nil
	}
	if err := json.Unmarshal(c.Stop, &one); err != nil {
		return bad(http.StatusBadRequest, "stop", "it is neither a text nor a list of texts")
	}
	c.stops = []string{one}
	return nil
}

// writeTimeout bounds each write to a client, so that one that does not read is given up.
const writeTimeout = 10 * time.Second

// complete answers a request. An error that it returns is the answer; a later one is the last event of the stream.
func (s *Server) complete(w http.ResponseWriter, r *http.Request) error {
	c, err := s.parse(r)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel() // gives the request up, however the answer ends
	q, err := s.Engine.Submit(ctx, c.prompt, min(c.Most, s.Engine.Room))
	if err != nil {
		return err
	}
	reply := Reply{ID: fmt.Sprintf("cmpl-%x", time.Now().UnixNano()), Object: "text_completion",
		Created: time.Now().Unix(), Model: s.Model}
	all, held := Choice{Tokens: []int{}}, text{stops: c.stops}
	for all.Finish == nil {
		var e Event
		select {
		case e = <-q.Made:
		case <-ctx.Done():
			return nil // the client has gone
		}
		if e.Err != nil && (!c.Stream || len(all.Tokens) == 0) {
			return e.Err
		}
		if e.Err != nil {
			_ = event(w, map[string]any{"error": problem(e.Err)})
			break
		}
		part := s.part(&held, e)
		all = Choice{Text: all.Text + part.Text, Tokens: append(all.Tokens, part.Tokens...), Finish: part.Finish}
		if reply.Choices = []Choice{part}; c.Stream && event(w, reply) != nil {
			return nil // the client has gone
		}
	}
	made := len(all.Tokens)
	reply.Usage = &Usage{Prompt: len(c.prompt), Completion: made, Total: len(c.prompt) + made}
	switch {
	case !c.Stream:
		reply.Choices = []Choice{all}
		send(w, http.StatusOK, reply)
		return nil
	case c.StreamUsage.Include && all.Finish != nil:
		reply.Choices = []Choice{}
		_ = event(w, reply)
	}
	_, _ = fmt.Fprint(w, "data: [DONE]\n\n")
	return nil
}

// part is what a token, or the end, adds to an answer.
func (s *Server) part(held *text, e Event) Choice {
	if e.Finish != "" {
		return Choice{Text: held.rest(), Tokens: []int{}, Finish: &e.Finish}
	}
	part := Choice{Tokens: []int{e.Token}}
	if s.Bytes && e.Token < 256 {
		part.Text = held.add(byte(e.Token))
	}
	if held.stopped {
		stop := "stop"
		part.Finish = &stop
	}
	return part
}

// event writes one event of a stream.
func event(w http.ResponseWriter, x any) error {
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	_ = out.SetWriteDeadline(time.Now().Add(writeTimeout)) // a recorder of tests has none
	b, err := json.Marshal(x)
	if err == nil {
		_, err = fmt.Fprintf(w, "data: %s\n\n", b)
	}
	return cmp.Or(err, out.Flush())
}

// text makes text of bytes: whole characters, and nothing that may be the beginning of a stop.
type text struct {
	stops   []string
	held    string
	stopped bool
}

func (t *text) add(b byte) (out string) {
	t.held += string([]byte{b})
	for _, stop := range t.stops {
		if i := strings.Index(t.held, stop); i >= 0 && stop != "" {
			t.stopped = true
			return t.held[:i]
		}
	}
	n := len(t.held)
	for back := 1; back <= min(utf8.UTFMax-1, len(t.held)); back++ { // the beginning of a character
		if tail := t.held[len(t.held)-back:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRuneInString(tail) {
				n -= back
			}
			break
		}
	}
	for _, stop := range t.stops {
		for k := min(len(stop)-1, len(t.held)); k > 0; k-- {
			if strings.HasSuffix(t.held, stop[:k]) {
				n = min(n, len(t.held)-k)
				break
			}
		}
	}
	out, t.held = t.held[:n], t.held[n:]
	return strings.ToValidUTF8(out, "\ufffd")
}

// rest is what was held back.
func (t *text) rest() string { return strings.ToValidUTF8(t.held, "\ufffd") }
