/** Tabs over one panel. */
import { Tabs as Base } from '@base-ui/react/tabs'
import type { ReactNode } from 'react'

interface TabsProps {
  readonly label: string
  readonly value: string
  readonly tabs: readonly (readonly [value: string, text: string])[]
  readonly children: ReactNode
  onChange(value: string): void
}

export function Tabs({ label, value, tabs, children, onChange }: TabsProps) {
  return (
    <Base.Root className="stack" value={value} onValueChange={(next: string) => onChange(next)}>
      <Base.List className="tabs" aria-label={label}>
        {tabs.map(([tab, text]) => (
          <Base.Tab key={tab} value={tab} className="tab">
            {text}
          </Base.Tab>
        ))}
      </Base.List>
      <Base.Panel key={value} value={value} className="tab-panel" tabIndex={-1}>
        {children}
      </Base.Panel>
    </Base.Root>
  )
}
