/** The chart: what Helm makes of it is what Kubernetes accepts, and what several nodes need. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse, parseAllDocuments, stringify } from 'yaml'
import { variableNames } from '../../src/config/config.ts'
import { findHelm } from '../support/helm.ts'
import { kubernetes, type Manifest } from '../support/kubernetes.ts'

const chart = join(import.meta.dirname, '../../deploy/helm/chapar')
const { program, missing } = await findHelm(t)
const { check, missing: schemas } = await kubernetes()
const skip = missing ?? schemas ?? false

/** The least that somebody who installs it has to say. */
const needed = {
  image: { repository: 'registry.example.org/chapar' },
  baseUrl: 'https://api.example.org',
  secrets: { database: { name: 'database' }, keyFile: { name: 'key-file' } },
  environment: { OTP_SENDER: 'smtp', S3_ENDPOINT: 'https://s3.example.org', S3_BUCKET: 'chapar' },
}

function helm(values: object, ...more: string[]) {
  const words = ['template', 'chapar', chart, '--kube-version=1.34.0', '--values=-', ...more]
  const { status, stdout, stderr } = spawnSync(program, words, {
    input: stringify(values),
    encoding: 'utf8',
  })
  return { status, stdout, stderr }
}

function rendered(values: object = {}): readonly Manifest[] {
  const { stdout, stderr } = helm({ ...needed, ...values })
  const manifests = parseAllDocuments(stdout).map((document) => document.toJS() as Manifest)
  if (manifests.length === 0) throw new Error(stderr)
  return manifests.filter((manifest) => manifest !== null)
}

interface Container {
  readonly env: readonly { readonly name: string; readonly value?: string }[]
  readonly [field: string]: unknown
}

function specOf<Spec>(manifests: readonly Manifest[], wanted: string): Spec {
  const found = manifests.find(({ kind }) => kind === wanted)
  if (!found) throw new Error(`there is no ${wanted}`)
  return found.spec as Spec
}

interface StatefulSet {
  readonly minReadySeconds: number
  readonly template: { readonly spec: Record<string, unknown> }
}

function podOf(manifests: readonly Manifest[], kind: 'StatefulSet' | 'Job' = 'StatefulSet') {
  const { template } = specOf<Pick<StatefulSet, 'template'>>(manifests, kind)
  const [container] = template.spec.containers as [Container]
  return { spec: template.spec, container }
}

interface NetworkPolicy {
  readonly podSelector: object
  readonly ingress: readonly {
    readonly ports: readonly { readonly port: string }[]
    readonly from?: readonly object[]
  }[]
}

const everything = {
  trustProxy: '10.0.0.0/8',
  ingress: {
    enabled: true,
    className: 'nginx',
    host: 'api.example.org',
    tlsSecret: 'tls',
    annotations: { a: 'b' },
  },
  secrets: { ...needed.secrets, redis: { name: 'redis' }, environment: ['more'] },
  imagePullSecrets: [{ name: 'registry' }],
  podAnnotations: { a: 'b' },
  nodeSelector: { a: 'b' },
  tolerations: [{ key: 'a', operator: 'Exists' }],
  networkPolicy: { metricsFrom: [{ namespaceSelector: {} }], from: [{ podSelector: {} }] },
}

t.test('Kubernetes accepts all of it, with little said and with much', { skip }, async (t) => {
  const some = ['Job', 'NetworkPolicy', 'PodDisruptionBudget', 'Service', 'Service']
  const nodes = ['StatefulSet']
  const little = rendered()
  t.same(little.map(({ kind }) => kind).sort(), [...some, ...nodes])
  const much = rendered(everything)
  t.same(much.map(({ kind }) => kind).sort(), ['Ingress', ...some, ...nodes])
  for (const manifest of [...little, ...much]) {
    t.equal(check(manifest), '', `${manifest.kind} ${manifest.metadata.name}`)
    t.equal(JSON.stringify(manifest).includes('null'), false, 'nothing is empty by mistake')
  }
  const wrong = { ...little[0], apiVersion: 'v1', kind: 'Service', spec: { portz: [] } } as Manifest
  t.match(check(wrong), /must NOT have additional properties/, 'a wrong word is noticed')
})

t.test('it installs the version that it lies beside', async (t) => {
  const read = (file: string) => readFileSync(join(chart, file), 'utf8')
  const { version } = JSON.parse(read('../../../package.json')) as { version: string }
  t.match(parse(read('Chart.yaml')), { appVersion: version })
})

t.test('nothing secret is made up, and what is missing is named', { skip }, async (t) => {
  const refused = (values: object) => helm(values).stderr
  t.match(refused({}), /baseUrl/)
  t.match(refused({ ...needed, secrets: { database: { name: 'database' } } }), /keyFile/)
  t.match(refused({ ...needed, environment: { OTP_SENDER: 'pigeon' } }), /OTP_SENDER/)
  t.match(refused({ ...needed, environment: { OTP_SENDER: 'smtp' } }), /files in one place/)
  t.match(refused({ ...needed, replica: 5 }), /replica/, 'so is a word that does not exist')
  const one = rendered({ replicas: 1, environment: { OTP_SENDER: 'smtp' } })
  t.ok(one.length > 0, 'a single node may keep its files')
  t.equal(
    rendered(everything).some(({ kind }) => kind === 'Secret'),
    false,
  )
})

t.test(
  'each pod is a node that the others reach, with settings that exist',
  { skip },
  async (t) => {
    const { container } = podOf(rendered(everything))
    const names = container.env.map(({ name }) => name)
    t.ok(names.indexOf('POD_IP') < names.indexOf('CLUSTER_ADDRESS'), 'it is known where it is used')
    const others = new Set(['POD_IP', 'NODE_OPTIONS', 'OTP_SENDER'])
    for (const name of names) t.ok(others.has(name) || variableNames.includes(name), name)
    const value = (of: string) => container.env.find(({ name }) => name === of)?.value
    t.equal(value('CLUSTER_ADDRESS'), 'https://$(POD_IP):9443')
    t.equal(value('KEY_FILE'), '/keys/keys')
    t.equal(value('BASE_URL'), needed.baseUrl)
  },
)

t.test('a pod has time to hand its accounts over, and no rights to spare', { skip }, async (t) => {
  const { spec, container } = podOf(rendered({ preStopSeconds: 7, drainSeconds: 9 }))
  t.equal(spec.terminationGracePeriodSeconds, 7 + 9 + 35, 'more than the service gives itself')
  t.match(container.lifecycle, { preStop: { exec: { command: ['sleep', /^7$/] } } })
  t.match(spec, { automountServiceAccountToken: false, securityContext: { runAsNonRoot: true } })
  t.match(container.securityContext, {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  })
  t.match(container.readinessProbe, { httpGet: { path: '/health/ready' } })
  t.match(spec.volumes, [{}, {}, { secret: { secretName: 'key-file', defaultMode: 0o440 } }])
  const live = { httpGet: { path: '/health/live' } }
  t.match(
    container,
    { livenessProbe: live, startupProbe: live },
    'a database that is away restarts none',
  )
})

t.test('an upgrade waits until a new pod has worked for a while', { skip }, async (t) => {
  const secondsIn = (values: object) =>
    specOf<StatefulSet>(rendered(values), 'StatefulSet').minReadySeconds
  t.equal(secondsIn({}), 10)
  t.equal(secondsIn({ minReadySeconds: 30 }), 30)
})

interface Job {
  readonly backoffLimit: number
  readonly activeDeadlineSeconds: number
  readonly template: { readonly metadata: { readonly labels: Record<string, string> } }
}

t.test('after an upgrade a job takes away what nobody uses any more', { skip }, async (t) => {
  const manifests = rendered({ ...everything, contract: { waitSeconds: 100 } })
  const job = manifests.find(({ kind }) => kind === 'Job')
  t.match(job?.metadata, { annotations: { 'helm.sh/hook': 'post-upgrade' } })
  const { backoffLimit, activeDeadlineSeconds, template } = specOf<Job>(manifests, 'Job')
  t.ok(backoffLimit < 2)
  t.equal(activeDeadlineSeconds, 150, 'its time is over before that of Helm')
  const { container, spec } = podOf(manifests, 'Job')
  t.same(container.command, ['node', 'bin/chapar.mjs', 'migrate', '--contract', '--wait', '100'])
  const launcher = join(chart, '../../../bin/chapar.mjs')
  t.match(spawnSync(process.execPath, [launcher, '--help']).stdout.toString(), / migrate /)

  const node = podOf(manifests)
  for (const field of ['image', 'env', 'envFrom', 'securityContext', 'volumeMounts']) {
    t.same(container[field], node.container[field], `${field}: as a node has it`)
  }
  for (const field of ['volumes', 'securityContext', 'imagePullSecrets', 'nodeSelector']) {
    t.same(spec[field], node.spec[field], field)
  }
  const { podSelector } = specOf<NetworkPolicy>(manifests, 'NetworkPolicy')
  const { matchLabels } = podSelector as { matchLabels: Record<string, string> }
  const isNode = Object.entries(matchLabels).every(
    ([name, value]) => template.metadata.labels[name] === value,
  )
  t.equal(isNode, false, 'no service sends it calls')
  const without = rendered({ contract: { enabled: false } })
  t.notOk(without.some(({ kind }) => kind === 'Job'))
})

t.test('only nodes reach the port for nodes', { skip }, async (t) => {
  const { podSelector, ingress } = specOf<NetworkPolicy>(rendered(), 'NetworkPolicy')
  const to = (port: string) => ingress.find(({ ports }) => ports[0]?.port === port)
  t.same(to('nodes')?.from, [{ podSelector }])
  t.match(to('http'), { ports: [{ port: 'http' }] })
  t.equal(to('http')?.from, undefined)
  t.equal(to('metrics'), undefined, 'nobody who is not named reads metrics')
})
