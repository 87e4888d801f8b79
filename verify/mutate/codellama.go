package mutate

// ofLlama lists bugs in the example that serves a model.
var ofLlama = within("docs/examples/llama", []CodeMutant{
	{File: "docs/examples/llama/engine.go", Text: "an idle crew that dies is not noticed", Tests: "TestIdle",
		Old: "			case <-s.Done:\n				return errors.New(\"a rank has ended\")\n", New: ""},
})
