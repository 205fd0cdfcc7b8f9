// What pi's RPC mode has no command for: moving in the tree with or without a summary, and labels.
export default function (pi) {
  pi.registerCommand("walk", {
    description: "walk {to, summarize?, label?}: move to an entry of the tree",
    handler: async (args, ctx) => {
      const { to, ...options } = JSON.parse(args);
      await ctx.navigateTree(to, options);
    },
  });
  pi.registerCommand("mark", {
    description: "mark {entry, label?}: label an entry, or take its label away",
    handler: async (args) => {
      const { entry, label } = JSON.parse(args);
      pi.setLabel(entry, label ?? undefined);
    },
  });
}
