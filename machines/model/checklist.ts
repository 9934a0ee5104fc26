/** Checklists: tasks that several people mark as done. */
import type { Person } from './person.ts'
import type { Text } from './text.ts'

export interface ChecklistTask {
  /** Positive, and given once in a list. */
  readonly id: number
  readonly text: Text
  readonly doneBy?: Person
  /** Unix time in seconds. */
  readonly doneAt?: number
}

export interface Checklist {
  readonly title: Text
  readonly tasks: readonly ChecklistTask[]
  readonly othersMayAdd?: boolean
  readonly othersMayMark?: boolean
}
