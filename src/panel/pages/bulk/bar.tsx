/** Several accounts of the list at once: which are chosen, and the bar with what can be done to them. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { call, save } from '../../api/call.ts'
import type { ListFilter } from '../../api/queries.ts'
import type { BulkAction, Credential } from '../../api/types.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { useReason } from '../../ui/states.tsx'
import { useToast } from '../../ui/toasts.tsx'
import './bulk.css'
import { TagButton } from './tags.tsx'

interface Chosen {
  /** The filter and the order in which they were chosen: in others nothing is, because it might not be seen. */
  readonly under: string
  readonly ids: ReadonlySet<number>
  /** All that pass the filter, also those that are not loaded. */
  readonly isAll: boolean
  readonly last: number | undefined
}

const nothing = { ids: new Set<number>(), isAll: false, last: undefined }

export type Selection = ReturnType<typeof useSelection>

export function useSelection(filter: ListFilter, rows: readonly Credential[]) {
  const under = JSON.stringify(filter)
  const [kept, setKept] = useState<Chosen>({ under, ...nothing })
  const { ids: picked, isAll } = kept.under === under ? kept : nothing
  // One that has left the list, because it passes the filter no more, is not seen either.
  const ids = useMemo(
    () => new Set(rows.map(({ credential_id }) => credential_id).filter((id) => picked.has(id))),
    [rows, picked],
  )
  const now = useRef({ rows, under })
  useEffect(() => {
    now.current = { rows, under }
  }, [rows, under])
  /** With `isRange`, all from the one that was picked before to this one. */
  const pick = useCallback((id: number, isOn: boolean, isRange: boolean) => {
    setKept((before) => {
      const { rows, under } = now.current
      const all = rows.map(({ credential_id }) => credential_id)
      const base = before.under === under ? before : nothing
      const ids = new Set(base.isAll ? all : base.ids)
      const from = base.last !== undefined && isRange ? all.indexOf(base.last) : -1
      const ends = [from < 0 ? all.indexOf(id) : from, all.indexOf(id)].sort((a, b) => a - b)
      for (const one of all.slice(ends[0], (ends[1] ?? 0) + 1)) {
        if (isOn) ids.add(one)
        else ids.delete(one)
      }
      return { under, ids, isAll: false, last: id }
    })
  }, [])
  return useMemo(() => {
    const choose = (chosen: Omit<Chosen, 'under' | 'last'>) =>
      setKept({ ...nothing, under, ...chosen })
    return {
      ids,
      isAll,
      pick,
      clear: () => choose(nothing),
      chooseAll: () => choose({ ids: new Set(), isAll: true }),
      chooseShown: () =>
        choose({
          ids: new Set(now.current.rows.map(({ credential_id }) => credential_id)),
          isAll: false,
        }),
    }
  }, [ids, isAll, pick, under])
}

const EXPORT = '/platforms/credentials/export'

type Kind = 'restart' | 'relink' | 'delete'

interface BarProps {
  readonly selection: Selection
  readonly filter: ListFilter
  readonly shown: number
  /** How many pass the filter; undefined while it is not known. */
  readonly matching: number | undefined
  /** An action has begun. */
  began(actionId: number): void
}

export function Bar({ selection, filter, shown, matching, began }: BarProps) {
  const t = useT()
  const [asked, setAsked] = useState<Kind>()
  const { ids, isAll, chooseAll, chooseShown, clear } = selection
  const count = isAll ? (matching ?? shown) : ids.size
  const { sort, order, ...filtered } = filter
  const chosen = isAll ? { filter: filtered } : { credential_ids: [...ids] }
  return (
    <section className={count > 0 ? 'bulk-bar some' : 'bulk-bar'} aria-label={t('bulk.bar')}>
      <AllShown
        isOn={count > 0 && (isAll || ids.size >= shown)}
        isMixed={count > 0}
        change={(isOn) => (isOn ? chooseShown() : clear())}
      />
      <span role="status" className="grow quiet small">
        {count > 0 && t.count(isAll ? 'bulk.chosenAll' : 'bulk.chosen', count)}
      </span>
      {count > 0 && (
        <>
          {!isAll && matching !== undefined && matching > count && (
            <Button kind="bare" size="slim" onClick={chooseAll}>
              {t.count('bulk.chooseAll', matching)}
            </Button>
          )}
          <Button icon="restart" size="slim" onClick={() => setAsked('restart')}>
            {t('bulk.restart')}
          </Button>
          <Button icon="link" size="slim" onClick={() => setAsked('relink')}>
            {t('bulk.relink')}
          </Button>
          <TagButton chosen={chosen} count={count} />
          <ExportButton selection={selection} filter={filter} />
          <Button icon="trash" kind="danger" size="slim" onClick={() => setAsked('delete')}>
            {t('bulk.delete')}
          </Button>
          <Button
            icon="cross"
            kind="bare"
            size="slim"
            aria-label={t('bulk.clear')}
            onClick={clear}
          />
        </>
      )}
      {asked && (
        <Asking
          kind={asked}
          count={count}
          selection={selection}
          filter={filter}
          began={began}
          onClose={() => setAsked(undefined)}
        />
      )}
    </section>
  )
}

interface AllShownProps {
  readonly isOn: boolean
  readonly isMixed: boolean
  change(isOn: boolean): void
}

function AllShown({ isOn, isMixed, change }: AllShownProps) {
  const t = useT()
  const box = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (box.current) box.current.indeterminate = isMixed && !isOn
  }, [isMixed, isOn])
  return (
    <label className="all small">
      <input
        ref={box}
        type="checkbox"
        checked={isOn}
        onChange={(event) => change(event.target.checked)}
      />
      {t('bulk.shown')}
    </label>
  )
}

function ExportButton({ selection, filter }: Pick<BarProps, 'selection' | 'filter'>) {
  const t = useT()
  const { ids, isAll } = selection
  const { sort, order, ...shown } = filter
  const toast = useToast()
  const reason = useReason()
  const exporting = useMutation({
    mutationFn: () =>
      save(
        EXPORT,
        isAll ? { query: shown } : { body: { credential_ids: [...ids] } },
        'accounts.csv',
      ),
    onError: (cause) => toast(reason(cause), 'bad'),
  })
  return (
    <Button
      icon="download"
      size="slim"
      busy={exporting.isPending}
      onClick={() => exporting.mutate()}
    >
      {t('bulk.export')}
    </Button>
  )
}

interface AskingProps {
  readonly kind: Kind
  readonly count: number
  readonly selection: Selection
  readonly filter: ListFilter
  began(actionId: number): void
  onClose(): void
}

/** Asks before something is done to so many accounts. Deleting wants their number typed, and fails if it has grown. */
function Asking({ kind, count, selection, filter, began, onClose }: AskingProps) {
  const t = useT()
  const reason = useReason()
  const queries = useQueryClient()
  const { ids, isAll, clear } = selection
  const { sort, order, ...shown } = filter
  const beginning = useMutation({
    mutationFn: () =>
      call<BulkAction>('POST', '/platforms/credentials/actions', {
        body: {
          kind,
          ...(isAll ? { filter: shown } : { credential_ids: [...ids] }),
          ...(kind === 'delete' && { at_most: count }),
        },
      }),
    onSuccess({ action_id }) {
      queries.invalidateQueries({ queryKey: ['bulk'] })
      onClose()
      clear()
      began(action_id)
    },
    onError: () => queries.invalidateQueries({ queryKey: ['groups'] }),
  })
  return (
    <Confirm
      title={t.count(`bulk.ask.${kind}`, count)}
      action={t(`bulk.${kind}`)}
      open
      busy={beginning.isPending}
      wrong={beginning.error ? reason(beginning.error) : undefined}
      {...(kind === 'delete' ? { word: `${count}` } : { isMild: true })}
      onConfirm={() => beginning.mutate()}
      onClose={onClose}
    >
      {t(`bulk.ask.${kind}.text`)}
    </Confirm>
  )
}
