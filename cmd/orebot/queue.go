package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"orebot/internal/ops"
)

func newQueue(g *globals, std stdio) *cobra.Command {
	f := &adminFlags{g: g}
	cmd := &cobra.Command{
		Use:   "queue",
		Short: "Show what waits to be answered or delivered, and why",
		Long: `Show what waits to be answered or delivered, and why, with the updates that couldn't be read and were set aside. Everything that
can be tried again is, without being asked; drop gives something up. The people concerned are told. It asks a running daemon.`,
		Example: "  orebot queue\n  orebot queue drop 3f9a1c07",
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return listQueue(cmd.Context(), f, std.out) },
	}
	f.add(cmd)
	list := &cobra.Command{
		Use: "list", Short: "Show what waits", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return listQueue(cmd.Context(), f, std.out) },
	}
	cmd.AddCommand(list,
		changeQueue(f, std, "retry ID", "Say how something is being tried again", "is tried again by itself"),
		changeQueue(f, std, "drop ID", "Give something up; who asked is told", "is given up"))
	return cmd
}

func changeQueue(f *adminFlags, std stdio, use, short, done string) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: oneArg("id")}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, _, err := f.connect(cmd.Context())
		if err != nil {
			return err
		}
		var it ops.QueueItem
		if err := c.Call(cmd.Context(), "/v1/queue/"+cmd.Name(), ops.Name{Name: args[0]}, &it); err != nil {
			return err
		}
		if f.json {
			return printJSON(std.out, it)
		}
		_, err = fmt.Fprintf(std.out, "%s %s %s: %s\n", it.Kind, it.ID, done, printable(it.Where+"; "+it.Why, 200))
		return err
	}
	return cmd
}

func listQueue(ctx context.Context, f *adminFlags, w io.Writer) error {
	c, _, err := f.connect(ctx)
	if err != nil {
		return err
	}
	var list ops.QueueList
	if err := c.Call(ctx, "/v1/queue", nil, &list); err != nil {
		return err
	}
	if f.json {
		return printJSON(w, list)
	}
	return table(w, queueRows(list, time.Now()))
}

// queueRows are the lines of `queue list`.
func queueRows(list ops.QueueList, now time.Time) [][]string {
	if len(list.Items) == 0 {
		return [][]string{{"Nothing waits."}}
	}
	rows := [][]string{{"ID", "WHAT", "WHERE", "WHO", "AGE", "WHY"}}
	for _, it := range list.Items {
		rows = append(rows, []string{it.ID, it.Kind, it.Where, it.Who, ago(it.Since, now), it.Why})
	}
	if list.More {
		rows = append(rows, []string{"…", "and more"})
	}
	return rows
}
