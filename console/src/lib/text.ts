/** Direction marks and controls that would change how the text around them reads. */
const unseen = /[\p{Cc}\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060\u2066-\u2069\ufeff]/gu

/** Foreign text as one line: nothing in it can hide or turn around what stands beside it. */
export const line = (text: string): string => text.replace(/\s+/gu, ' ').replace(unseen, '\ufffd').trim()

export const subjectOf = (subject: string): string => line(subject) || '(no subject)'

export const plural = (n: number, one: string, many = `${one}s`): string =>
  `${n.toLocaleString('en')} ${n === 1 ? one : many}`

/** `help_request` as people write it. */
export const typeName = (type: string): string => line(type).replaceAll('_', ' ')

/** 1200 as 1.2k: for places where a number must not grow. */
const compactly = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })
export const compact = (n: number): string => compactly.format(n)
