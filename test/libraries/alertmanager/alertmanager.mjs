/** Alertmanager behind the protocol of test/libraries/bot-process.ts: each notice is an alert that fires. */
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Absent, serve, started, untilReady } from './wire.mjs'

const { address, key } = await started()
const binary = process.env.ALERTMANAGER
const folder = mkdtempSync(join(tmpdir(), 'chapar-alertmanager-'))
const url = `http://127.0.0.1:${await freePort()}`

const configurationOf = (chat) => `
receivers:
  # snippet
  - name: telegram
    telegram_configs:
      - api_url: ${address}
        bot_token: ${key}
        chat_id: ${chat}
  # end
        parse_mode: ''
        message: '{{ .CommonLabels.alertname }}: {{ .CommonAnnotations.summary }}'
route:
  receiver: telegram
  group_by: [alertname]
  group_wait: 0s
`

const file = join(folder, 'alertmanager.yml')
let addressee = 1
writeFileSync(file, configurationOf(addressee))
const words = [
  `--config.file=${file}`,
  `--storage.path=${join(folder, 'data')}`,
  `--web.listen-address=${new URL(url).host}`,
  '--cluster.listen-address=',
]
const program = spawn(binary, words, { stdio: ['ignore', 'ignore', 'inherit'] })
process.on('exit', () => {
  program.kill()
  rmSync(folder, { recursive: true, force: true })
})
await untilReady(async () => (await fetch(`${url}/-/ready`)).ok)

/** Another configuration makes it begin anew with what it is sending. */
async function addressTo(chat) {
  if (chat === addressee) return
  addressee = chat
  writeFileSync(file, configurationOf(chat))
  const reloaded = await fetch(`${url}/-/reload`, { method: 'POST' })
  if (!reloaded.ok) throw new Error(await reloaded.text())
}

/** Resolves whether the notice arrived, as its own counts tell. */
async function notify({ chat_id, title, body }) {
  await addressTo(chat_id)
  const before = await counts()
  const alerts = [{ labels: { alertname: title }, annotations: { summary: body } }]
  const headers = { 'content-type': 'application/json' }
  const posted = { method: 'POST', headers, body: JSON.stringify(alerts) }
  const answer = await fetch(`${url}/api/v2/alerts`, posted)
  if (!answer.ok) throw new Error(await answer.text())
  let after = before
  await untilIt(async () => {
    after = await counts()
    return after.sent > before.sent
  })
  return after.failed === before.failed
}

async function counts() {
  const text = await (await fetch(`${url}/metrics`)).text()
  const sumOf = (name) =>
    text
      .split('\n')
      .filter((line) => line.startsWith(name) && line.includes('integration="telegram"'))
      .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
  return {
    sent: sumOf('alertmanager_notification_requests_total'),
    failed: sumOf('alertmanager_notification_requests_failed_total'),
  }
}

async function untilIt(isSo) {
  for (let tries = 0; tries < 150; tries++) {
    if (await isSo().catch(() => false)) return
    await sleep(100)
  }
  throw new Error('Alertmanager does not come so far')
}

async function freePort() {
  const server = createServer()
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address()
  await new Promise((resolve) => server.close(resolve))
  return port
}

const about = execFileSync(binary, ['--version'], { encoding: 'utf8' })
const [, version] = /version (\S+)/.exec(about)
await serve(version, {
  call: (method, parameters) => {
    if (method !== 'notify') throw new Absent(`Alertmanager has no ${method}`)
    return notify(parameters)
  },
  download: () => {
    throw new Absent('Alertmanager downloads nothing')
  },
  refusalOf: () => undefined,
})
