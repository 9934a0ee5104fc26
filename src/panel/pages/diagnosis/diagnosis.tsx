/** /dashboard/keys/:id/diagnosis: finds out, step by step, why a bot does not get or send its messages. */
import './diagnosis.css'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { Link, useParams, useSearchParams } from 'react-router'
import { diagnosisQuery, keyQuery, startDiagnosis, takeStep } from '../../api/queries.ts'
import type { ApiKey, Diagnosis, DiagnosisStep, Verdict } from '../../api/types.ts'
import { Hint } from '../../help/hint.tsx'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { Field } from '../../ui/form.tsx'
import { Icon } from '../../ui/icons.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { Failed, Loading, Wrong } from '../../ui/states.tsx'
import { useChangeOfAddress } from '../../ui/use-in-address.ts'
import { placeOf, Remedy, useFix } from './remedy.tsx'

interface StartProps {
  readonly keyId: number
  onStart(diagnosis: Diagnosis, isAll: boolean): void
}

/** The start of a diagnosis: its optional fields, and the two ways to begin it. */
export function Start({ keyId, onStart }: StartProps) {
  const t = useT()
  const queries = useQueryClient()
  const [sendTo, setSendTo] = useState('')
  const [secret, setSecret] = useState('')
  const starting = useMutation({
    mutationFn: (_isAll: boolean) =>
      startDiagnosis(keyId, {
        ...(sendTo.trim() && { send_to: sendTo.trim() }),
        ...(secret.trim() && { key: secret.trim() }),
      }),
    onSuccess(diagnosis, isAll) {
      const { queryKey } = diagnosisQuery(keyId, diagnosis.diagnosis_id)
      queries.setQueryData(queryKey, diagnosis)
      onStart(diagnosis, isAll)
    },
  })
  return (
    <Card title={t('diagnosis.begin')} aside={<Hint about="diagnosis" />}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          if (!starting.isPending) starting.mutate(true)
        }}
      >
        <Field
          label={t('diagnosis.sendTo')}
          hint={t('diagnosis.sendToHint')}
          className="ltr"
          autoComplete="off"
          maxLength={256}
          value={sendTo}
          onChange={(event) => setSendTo(event.target.value)}
        />
        <Field
          label={t('diagnosis.key')}
          hint={t('diagnosis.keyHint')}
          className="ltr mono"
          type="password"
          autoComplete="off"
          maxLength={100}
          value={secret}
          onChange={(event) => setSecret(event.target.value)}
        />
        <Wrong cause={starting.error} />
        <div className="actions">
          <Button disabled={starting.isPending} onClick={() => starting.mutate(false)}>
            {t('diagnosis.stepwise')}
          </Button>
          <Button type="submit" kind="first" icon="stethoscope" busy={starting.isPending}>
            {t('diagnosis.all')}
          </Button>
        </div>
      </form>
    </Card>
  )
}

const written = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'long' })

/** Times as the reader's clock shows them, with the zone for whoever gets the text; names and answers may hold what only looks like one. */
const inLocalTime = (text: string) =>
  text.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (at) =>
    Number.isNaN(Date.parse(at)) ? at : written.format(new Date(at)),
  )

/** A diagnosis as English text, to be sent to other people. */
export function reportOf(
  diagnosis: Diagnosis,
  { name, api_key_id, credential_id }: ApiKey,
): string {
  const { cause, next_action, started_at, steps } = diagnosis
  const lines = [
    `Diagnosis of the key "${name}" (${api_key_id}) of account ${credential_id}, ${started_at}`,
    '',
    ...steps.flatMap(({ step, verdict, code, evidence, remedy }, place) => [
      `${place + 1}. ${step}: ${verdict}${code === null ? '' : ` (${code})`}`,
      ...evidence.map((line) => `   - ${line}`),
      ...(remedy === null ? [] : [`   > ${remedy}`]),
    ]),
    '',
    `Cause: ${cause ? `${cause.text} (${cause.step}: ${cause.code})` : 'none found'}`,
    ...(next_action === null ? [] : [`What to do: ${next_action}`]),
  ]
  return inLocalTime(lines.join('\n'))
}

export interface ResultProps {
  readonly diagnosis: Diagnosis
  readonly apiKey: ApiKey
  anew(): void
}

/** The result of a diagnosis: the cause, the remedy, and a button for it. */
export function Result({ diagnosis, apiKey, anew }: ResultProps) {
  const t = useT()
  const fix = useFix()
  const { cause, next_action } = diagnosis
  const isBroken = diagnosis.steps.some(({ verdict }) => verdict === 'failed')
  const tone = isBroken ? 'bad' : cause ? 'warn' : 'good'
  return (
    <section className={`card result tone-${tone}`} aria-labelledby="result" aria-live="polite">
      <header>
        <h2 id="result" className="row">
          <Icon name={tone === 'good' ? 'check' : 'warning'} size={22} />
          {cause
            ? t(isBroken ? 'diagnosis.found' : 'diagnosis.noticed', {
                step: t.word('diagnosis.step', cause.step),
              })
            : t('diagnosis.healthy')}
        </h2>
        <CopyButton text={reportOf(diagnosis, apiKey)} label={t('diagnosis.copy')} />
      </header>
      {cause && (
        <p className="quiet" dir="auto">
          {t.fact(cause.text_code, cause.text)}
        </p>
      )}
      <p>{cause ? fix(cause.code, next_action) : t('diagnosis.healthyText')}</p>
      <div className="actions">
        <Button icon="restart" onClick={anew}>
          {t('diagnosis.anew')}
        </Button>
        {cause && <Remedy code={cause.code} diagnosis={diagnosis} apiKey={apiKey} />}
      </div>
    </section>
  )
}

export interface CourseProps {
  readonly apiKey: ApiKey
  readonly diagnosisId: string
  /** Runs all steps without further clicks. */
  readonly runs: boolean
  anew(): void
}

/** A running diagnosis: runs its steps, all at once or one at each click, and shows the result. */
export function Course({ apiKey, diagnosisId, runs, anew }: CourseProps) {
  const t = useT()
  const queries = useQueryClient()
  const wanted = diagnosisQuery(apiKey.api_key_id, diagnosisId)
  const diagnosis = useQuery(wanted)
  const stepping = useMutation({
    mutationFn: (from: Diagnosis) => takeStep(from),
    onSuccess: (next) => queries.setQueryData(wanted.queryKey, next),
    // Another page may have taken the step, or be taking it.
    onError: () =>
      queries.fetchQuery({ ...wanted, staleTime: 0, retry: false }).catch(() => undefined),
  })
  const { mutate, isPending } = stepping
  const { data } = diagnosis
  /** Why the step that comes next was not taken. */
  const error = stepping.variables?.step === data?.step ? stepping.error : null
  /** A step that failed is tried again only on request. */
  const taken = useRef('')

  useEffect(() => {
    if (!runs || !data?.step || taken.current === data.step) return
    taken.current = data.step
    mutate(data)
  }, [runs, data, mutate])

  if (diagnosis.isError && !data) return <Failed cause={diagnosis.error} retry={anew} />
  if (!data) return <Loading lines={5} />
  return (
    <>
      {data.step === null && <Result diagnosis={data} apiKey={apiKey} anew={anew} />}
      <Steps diagnosis={data} busy={isPending} />
      {data.step !== null && <Wrong cause={error} />}
      {data.step !== null && (!runs || error) && (
        <div className="actions">
          <Button onClick={anew}>{t('cancel')}</Button>
          <Button kind="first" busy={isPending} onClick={() => mutate(data)}>
            {t('diagnosis.next', { step: t.word('diagnosis.step', data.step) })}
          </Button>
        </div>
      )}
    </>
  )
}

export function DiagnosisPage() {
  const t = useT()
  const { id } = useParams()
  const keyId = Number(id)
  const key = useQuery(keyQuery(keyId))
  const [query] = useSearchParams()
  const changeAddress = useChangeOfAddress()
  const under = query.get('diagnosis')
  return (
    <Page
      narrow
      title={t('diagnosis.title')}
      lead={t('diagnosis.lead')}
      crumbs={
        key.data && (
          <Link to={`/dashboard/keys/${keyId}`}>
            {t('diagnosis.ofKey', { name: key.data.name })}
          </Link>
        )
      }
    >
      {key.isError && !key.data ? (
        <Failed cause={key.error} retry={() => key.refetch()} />
      ) : !key.data ? (
        <Loading />
      ) : under ? (
        <Course
          key={under}
          apiKey={key.data}
          diagnosisId={under}
          runs={query.get('run') === 'all'}
          anew={() => changeAddress({ diagnosis: undefined, run: undefined })}
        />
      ) : (
        <Start
          keyId={keyId}
          onStart={({ diagnosis_id: diagnosis }, isAll) =>
            changeAddress({ diagnosis, run: isAll ? 'all' : undefined }, { replace: true })
          }
        />
      )}
    </Page>
  )
}

const tones: Readonly<Record<Verdict, Tone>> = {
  pending: 'idle',
  passed: 'good',
  failed: 'bad',
  skipped: 'idle',
}

export function Steps({
  diagnosis,
  busy,
}: {
  readonly diagnosis: Diagnosis
  readonly busy: boolean
}) {
  return (
    <ol className="steps" aria-live="polite" aria-busy={busy}>
      {diagnosis.steps.map((step, place) => (
        <Step
          key={step.step}
          diagnosis={diagnosis}
          step={step}
          place={place}
          isRunning={busy && step.step === diagnosis.step}
        />
      ))}
    </ol>
  )
}

interface StepProps {
  readonly diagnosis: Diagnosis
  readonly step: DiagnosisStep
  readonly place: number
  readonly isRunning: boolean
}

function Step({ diagnosis, step, place, isRunning }: StepProps) {
  const t = useT()
  const { number } = useFormats()
  const fix = useFix()
  const { verdict, code, remedy, evidence } = step
  const isUntold = step.step === 'send' && verdict === 'skipped'
  const tone = verdict === 'passed' && code !== null ? 'warn' : tones[verdict]
  return (
    <li className={`card step tone-${isRunning ? 'busy' : tone} ${verdict}`}>
      <header>
        <div className="row">
          <span className="place number">{number(place + 1)}</span>
          <div className="grow">
            <h2>{t.word('diagnosis.step', step.step)}</h2>
            <p className="quiet small">{t.word('diagnosis.about', step.step)}</p>
          </div>
        </div>
        {isRunning ? (
          <Badge tone="busy">{t('diagnosis.running')}</Badge>
        ) : (
          <Badge tone={tone}>{t(`diagnosis.verdict.${verdict}`)}</Badge>
        )}
      </header>
      {evidence.length > 0 && (
        <ul className="evidence small" aria-label={t('diagnosis.evidence')}>
          {evidence.map((line, place) => (
            <li key={line} dir="auto">
              <Evidence
                text={t.fact(step.evidence_codes[place], line)}
                to={placeOf(step.evidence_codes[place]?.code, diagnosis)}
              />
            </li>
          ))}
        </ul>
      )}
      {(code ?? remedy) !== null && (
        <p className="small remedy">
          {isUntold ? t('diagnosis.fix.no_target') : fix(code, remedy)}
        </p>
      )}
    </li>
  )
}

/** A line of evidence, as a link where the panel shows what it speaks of. */
function Evidence({ text, to }: { readonly text: string; readonly to: string | undefined }) {
  return to === undefined ? text : <Link to={to}>{text}</Link>
}
