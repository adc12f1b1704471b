// Connects Slack's own Node client to the simulator at argv[2] and answers what comes: a check from outside that the
// simulator speaks Slack's protocol. NODE_PATH can't reach ES modules, so argv[3] names the folder that holds node_modules.
import { createRequire } from 'node:module';

const [, , url, folder] = process.argv;
const { App, LogLevel } = createRequire(folder + '/package.json')('@slack/bolt');
const app = new App({
  token: 'xoxb-sim',
  appToken: 'xapp-sim',
  socketMode: true,
  logLevel: LogLevel.ERROR,
  clientOptions: { slackApiUrl: url + '/api/' },
});
app.event('app_mention', async ({ event, say }) => {
  await say({ text: 'heard ' + event.text, thread_ts: event.ts });
});
app.message('button please', async ({ say }) => {
  await say({
    text: 'press it',
    blocks: [
      { type: 'section', text: { type: 'mrkdwn', text: 'press it' } },
      { type: 'actions', elements: [{ type: 'button', action_id: 'orebot:retry', text: { type: 'plain_text', text: 'Ask again' } }] },
    ],
  });
});
app.action('orebot:retry', async ({ body, ack, respond }) => {
  await ack();
  await respond({ text: 'pressed by ' + body.user.id + ' under ' + body.message.text, replace_original: false });
});
app.command('/orebot', async ({ command, ack, respond }) => {
  await ack({ text: 'acked ' + command.text });
  await respond({ text: 'responded', response_type: 'in_channel' });
});
await app.start();
