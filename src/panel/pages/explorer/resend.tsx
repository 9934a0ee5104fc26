/** Sending updates to the webhook again: one, those that failed, or a range; counted before, followed, stopped. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { call } from '../../api/call.ts'
import type { ApiKey, Resend } from '../../api/types.ts'
import { Hint } from '../../help/hint.tsx'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Choice, Field, Form } from '../../ui/form.tsx'
import { useReason, Wrong } from '../../ui/states.tsx'
import { Ago } from '../../ui/time.tsx'
import { useToast } from '../../ui/toasts.tsx'

const EVERY_MS = 1_000
/** So long the end of a resend is worth a line. */
const RECENT_MS = 600_000

const pathOf = ({ api_key_id }: ApiKey) => `/api_keys/${api_key_id}/webhook/resend`

const keyOf = ({ api_key_id }: ApiKey) => ['resend', api_key_id]

type Wish = Readonly<Record<string, string | number | boolean>>

/** Begins a resend; the progress and the list of deliveries are looked at again. */
function useResend(apiKey: ApiKey, done?: () => void) {
  const t = useT()
  const toast = useToast()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (body: Wish) => call<Resend>('POST', pathOf(apiKey), { body }),
    onSuccess(resend) {
      queries.setQueryData(keyOf(apiKey), resend)
      queries.invalidateQueries({ queryKey: ['deliveries', apiKey.api_key_id] })
      toast(t.count('resend.begun', resend.updates))
      done?.()
    },
  })
}

/** Sends one update again, at once. */
export function ResendOne({
  apiKey,
  updateId,
}: {
  readonly apiKey: ApiKey
  readonly updateId: number
}) {
  const t = useT()
  const reason = useReason()
  const toast = useToast()
  const sending = useResend(apiKey)
  return (
    <Button
      size="slim"
      icon="restart"
      busy={sending.isPending}
      onClick={() =>
        sending.mutate({ update_id: updateId }, { onError: (cause) => toast(reason(cause), 'bad') })
      }
    >
      {t('resend.one')}
    </Button>
  )
}

interface DialogProps {
  readonly apiKey: ApiKey
  /** The first update, if one was chosen. */
  readonly from: number | undefined
  close(): void
}

/** The ends of a range as typed: numbers of updates, or local times. */
interface Ends {
  readonly first: string
  readonly last: string
}

/** The request to the service for the typed values; undefined while one is missing. */
function wishOf(which: string, { first, last }: Ends): Wish | undefined {
  if (which === 'failed') return { outcome: 'failed' }
  if (first === '') return undefined
  if (which === 'numbers') {
    return { from_update_id: Number(first), ...(last !== '' && { to_update_id: Number(last) }) }
  }
  const time = (local: string) => new Date(local).toISOString()
  return { since: time(first), ...(last !== '' && { until: time(last) }) }
}

const TYPING_MS = 300

/** The wish as it was when the typing last rested: each count looks at a whole range. */
function useRested(wish: Wish | undefined): Wish | undefined {
  const text = JSON.stringify(wish)
  const [rested, setRested] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setRested(text), TYPING_MS)
    return () => clearTimeout(timer)
  }, [text])
  return rested === undefined ? undefined : JSON.parse(rested)
}

interface RangeProps {
  readonly isTimes: boolean
  readonly range: Ends
  change(range: Ends): void
}

function Range({ isTimes, range, change }: RangeProps) {
  const t = useT()
  const usual = {
    className: 'ltr',
    ...(isTimes ? { type: 'datetime-local' } : { type: 'number', min: 1 }),
  }
  return (
    <div className="columns">
      <Field
        {...usual}
        label={t('resend.first')}
        required
        value={range.first}
        onChange={(event) => change({ ...range, first: event.target.value })}
      />
      <Field
        {...usual}
        label={t('resend.last')}
        hint={t('resend.last.hint')}
        value={range.last}
        onChange={(event) => change({ ...range, last: event.target.value })}
      />
    </div>
  )
}

/** The dialog that sends several updates again, and says beforehand how many these are. */
export function ResendDialog({ apiKey, from, close }: DialogProps) {
  const t = useT()
  const [which, setWhich] = useState(from === undefined ? 'failed' : 'numbers')
  const [range, setRange] = useState({ first: `${from ?? ''}`, last: '' })
  const sending = useResend(apiKey, close)
  const typed = wishOf(which, range)
  const wish = useRested(typed)
  const isRested = JSON.stringify(wish) === JSON.stringify(typed)
  const counted = useQuery({
    queryKey: ['resend', apiKey.api_key_id, 'count', wish],
    queryFn: ({ signal }) =>
      call<Resend>('POST', pathOf(apiKey), { body: { ...wish, count_only: true }, signal }),
    enabled: wish !== undefined,
    retry: false,
    staleTime: 0,
  })
  const submit = { isPending: sending.isPending, mutate: () => wish && sending.mutate(wish) }
  return (
    <Dialog title={t('resend.title')} open onClose={close}>
      <Form by={submit} isReady={isRested && (counted.data?.updates ?? 0) > 0}>
        <div className="quiet">
          {t('resend.text')} <Hint about="resend" />
        </div>
        <Choice
          label={t('resend.which')}
          value={which}
          options={[
            ['failed', t('resend.failed')],
            ['times', t('resend.times')],
            ['numbers', t('resend.numbers')],
          ]}
          onChange={(next) => {
            setWhich(next)
            setRange({ first: '', last: '' })
          }}
        />
        {which !== 'failed' && (
          <Range key={which} isTimes={which === 'times'} range={range} change={setRange} />
        )}
        <p role="status" className="label">
          {isRested && counted.data && t.count('resend.count', counted.data.updates)}
          {isRested && counted.data?.is_cut && ` ${t('resend.cut')}`}
        </p>
        <Wrong cause={counted.error ?? sending.error} />
        <div className="actions">
          <Button onClick={close}>{t('cancel')}</Button>
          <Button
            type="submit"
            kind="first"
            busy={sending.isPending}
            disabled={!isRested || !counted.data?.updates}
          >
            {t('resend.go')}
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}

/** How far the last resend is, while it runs and for some minutes after its end. */
export function ResendProgress({ apiKey }: { readonly apiKey: ApiKey }) {
  const t = useT()
  const queries = useQueryClient()
  const resend = useQuery({
    queryKey: keyOf(apiKey),
    queryFn: ({ signal }) => call<Resend>('GET', pathOf(apiKey), { signal }),
    refetchInterval: ({ state: { data } }) => (data?.state === 'running' ? EVERY_MS : false),
  })
  const stopping = useMutation({
    mutationFn: () => call<Resend>('DELETE', pathOf(apiKey)),
    onSuccess: (stopped) => queries.setQueryData(keyOf(apiKey), stopped),
  })
  const { state, updates, remaining, started_at } = resend.data ?? { state: 'none' as const }
  if (state === 'none' || state === 'counted' || !started_at) return null
  const isRunning = state === 'running'
  if (!isRunning && Date.now() - Date.parse(started_at) > RECENT_MS) return null
  const values = { done: updates - remaining }
  return (
    <section className="resend" aria-label={t('resend.progress')}>
      <div className="row spread">
        <span role="status" className="small grow">
          {t.count(`resend.${state}`, updates, values)} · <Ago at={started_at} />
        </span>
        {isRunning && (
          <Button size="slim" busy={stopping.isPending} onClick={() => stopping.mutate()}>
            {t('resend.stop')}
          </Button>
        )}
      </div>
      <progress value={updates - remaining} max={updates} aria-label={t('resend.progress')} />
      <Wrong cause={stopping.error} />
    </section>
  )
}
