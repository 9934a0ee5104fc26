/** The alerting rules: Prometheus takes them, each fires when it should, and each asks for what the service exports. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { findPromtool } from '../support/promtool.ts'
import { startService } from '../support/service.ts'

const root = join(import.meta.dirname, '../..')
const rules = join(root, 'deploy/prometheus/alerts.yml')
const cases = join(import.meta.dirname, 'alerts-cases.yml')
const read = (path: string) => readFileSync(path, 'utf8')

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly [name: string]: string }
}

const { groups } = parse(read(rules)) as { groups: { readonly rules: readonly Rule[] }[] }
const alerts = groups.flatMap((group) => group.rules)

const { program, missing } = await findPromtool(t)

function promtool(...words: string[]) {
  const { status, stdout, stderr } = spawnSync(program, words, { encoding: 'utf8' })
  return { status, said: `${stdout}${stderr}` }
}

t.test('Prometheus takes the rules', { skip: missing ?? false }, async (t) => {
  const { status, said } = promtool('check', 'rules', rules)
  t.equal(status, 0, said)
  t.match(said, `${alerts.length} rules found`)
})

t.test(
  'each fires in its case, and none at a service that works',
  {
    skip: missing ?? false,
  },
  async (t) => {
    const { status, said } = promtool('test', 'rules', cases)
    t.equal(status, 0, said)
  },
)

t.test('each has a case, a severity, and words for who is woken', async (t) => {
  const text = read(cases)
  for (const { alert, labels, annotations } of alerts) {
    t.match(text, `alertname="${alert}"`, alert)
    t.match(labels.severity, /^(critical|warning|info)$/, alert)
    t.same(Object.keys(annotations).sort(), ['description', 'runbook', 'summary'], alert)
  }
})

t.test('the runbook of each is there, and names it', async (t) => {
  const page = read(join(root, 'docs/cluster.md'))
  const [, runbooks = ''] = /^## Runbooks$([\s\S]*?)^## /m.exec(page) ?? []
  const sections = new Map(
    runbooks
      .split(/^\*\*(?=[A-Z])/m)
      .map((section) => [section.slice(0, section.indexOf('.**')), section]),
  )
  for (const { alert, annotations } of alerts) {
    t.match(
      sections.get(annotations.runbook ?? '') ?? '',
      `\`${alert}\``,
      `${alert}: ${annotations.runbook}`,
    )
  }
  const named = [...runbooks.matchAll(/`(Chapar\w+)`/g)].map(([, name]) => name)
  const known = alerts.map(({ alert }) => alert)
  t.same(
    named.filter((name = '') => !known.includes(name)),
    [],
    'no other alert is named',
  )
})

const METRICS_TOKEN = 'a-token-of-operators'

/** `name{label="value"}`, of which the braces may be absent. */
const selector = /\b((?:chapar|nodejs|process)_\w+)(?:\{([^}]*)\})?/g

t.test('each metric that they name is exported, with the labels that they ask for', async (t) => {
  const service = await startService(t, { env: { METRICS_TOKEN } })
  const headers = { authorization: `Bearer ${METRICS_TOKEN}` }
  const exported = async () => (await fetch(`${service.url}/metrics`, { headers })).text()
  // The first answer is counted in the second.
  await exported()
  const text = await exported()
  const typeOf = (name: string) => new RegExp(`^# TYPE ${name} (\\w+)$`, 'm').exec(text)?.[1]
  const used = alerts.flatMap(({ alert, expr }) =>
    [...expr.matchAll(selector)].map(([, name = '', labels = '']) => ({ alert, name, labels })),
  )
  t.ok(used.length >= alerts.length)
  for (const { alert, name, labels } of used) {
    const histogram = name.replace(/_(bucket|count|sum)$/, '')
    const isThere = typeOf(name) !== undefined || typeOf(histogram) === 'histogram'
    t.ok(isThere, `${alert}: ${name}`)
    const samples = text.split('\n').filter((line) => line.startsWith(`${name}{`))
    for (const [, label] of labels.matchAll(/(\w+)\s*[=!]/g)) {
      if (samples.length === 0) continue
      t.ok(samples[0]?.includes(`${label}="`), `${alert}: ${name} has the label ${label}`)
    }
  }
})
