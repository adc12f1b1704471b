package ops

import "orebot/core/observe"

// figure is one metric: a name of observe, whose type is the metric's kind, and its fixed labels.
type figure struct {
	name    any // observe.Counter, observe.Gauge or observe.Histogram
	help    string
	labels  []string
	buckets []float64 // of a histogram, in seconds
}

// figures lists every metric. The labels stand in the order in which observe documents their values.
func figures() []figure {
	platform := []string{"platform"}
	return []figure{
		{observe.Messages, "Messages by outcome: received, and how each ended.", []string{"platform", "outcome"}, nil},
		{observe.Tokens, "Tokens the models read and wrote.", []string{"direction", "model"}, nil},
		{observe.Ignored, "Events that were no message to the bot, by reason.", []string{"platform", "reason"}, nil},
		{observe.Duplicates, "Messages that came more than once.", platform, nil},
		{observe.Reconnects, "Connections to the platform that were opened again.", platform, nil},
		{observe.Repeats, "Parts that were sent again with the repeat label.", platform, nil},
		{observe.PollConflicts, "Polls that failed because another poller uses the token.", nil, nil},
		{observe.ToolCalls, "Calls of tools, by what became of them.", []string{"server", "outcome"}, nil},

		{observe.ModelUp, "Whether the model host answers.", []string{"host"}, nil},
		{observe.PlatformReady, "Whether the platform had a real round trip and works.", platform, nil},
		{observe.PlatformLast, "Unix time of the last successful round trip.", platform, nil},
		{observe.StoreFree, "Free bytes where the store lives.", nil, nil},
		{observe.EntryOldest, "Age of the oldest message without an end.", nil, nil},
		{observe.DeliveryOldest, "Age of the oldest answer that isn't delivered.", platform, nil},
		{observe.LiveThreads, "Conversations in memory.", nil, nil},

		{observe.StoreCommit, "Time of a commit to disk.", nil,
			[]float64{.0005, .001, .002, .004, .008, .016, .032, .064, .125, .25, .5, 1, 2.5, 5}},
		{observe.ToolSeconds, "Time that a call of a tool ran.", []string{"server"},
			[]float64{.005, .025, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}},
		{observe.TurnSeconds, "Time from submission to the final turn.", nil,
			[]float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 20, 40, 80, 160, 320, 640}},
		{observe.DeliverySeconds, "Time from the final turn to its last part.", platform,
			[]float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800}},
	}
}
