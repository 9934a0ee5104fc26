/** The same machine in words: for those who cannot see the drawing, and what the drawing leaves out. */
import type { Chart, ChartTransition } from '../api/types.ts'
import { useT } from '../i18n/language.tsx'

export function ChartWords({ chart }: { readonly chart: Chart }) {
  const t = useT()
  const leads = ({ event, to, guard }: ChartTransition) => (
    <span key={`${event} ${to} ${guard}`} className="block">
      {t('account.machine.leads', { event: isolated(event), state: isolated(to ?? '') })}
      {guard && <span className="mono quiet"> [{guard}]</span>}
    </span>
  )
  const anywhere = chart.transitions.filter(({ from, to }) => from === null && to !== null)
  return (
    <details className="small">
      <summary>{t('account.machine.list')}</summary>
      <dl className="facts">
        <dt>{t('account.machine.anywhere')}</dt>
        <dd>{anywhere.map((one) => leads(one))}</dd>
        {chart.states.map(({ path }) => (
          <div key={path} className="pair">
            <dt className="mono">{path}</dt>
            <dd>
              {chart.transitions.filter(({ from, to }) => from === path && to !== null).map(leads)}
            </dd>
          </div>
        ))}
      </dl>
    </details>
  )
}

/** Latin names keep their own direction inside a Persian sentence. */
const isolated = (name: string) => `\u2068${name}\u2069`
