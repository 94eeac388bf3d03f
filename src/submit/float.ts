/**
 * Floats whose value is whole. Python's readers tell `1.0` from `1`, a JavaScript number does not; every
 * other float (`0.5`, `1e21`, `-0.0`, infinity) is one by its text already and stays a number.
 */

const FLOAT: unique symbol = Symbol.for("gymfile.float");

/** A float whose value is whole, made by {@link float}. */
export class Float {
	readonly [FLOAT] = true;
	/** The value as a number; its text has neither point nor exponent. */
	readonly value: number;

	constructor(value: number) {
		this.value = value;
		Object.freeze(this);
	}

	/** As YAML and Hydra write it: `1.0`. */
	toString(): string {
		return `${this.value}.0`;
	}

	/** JSON has one kind of number. */
	toJSON(): number {
		return this.value;
	}
}

/**
 * `value` as a float in `run` and `prepare`, also when it is whole: `float(1)` reaches Gym as `1.0`, where the
 * number 1 would be an integer.
 */
export function float(value: number): Float | number {
	const whole = Number.isInteger(value) && !Object.is(value, -0) && Math.abs(value) < 1e21;
	return whole ? new Float(value) : value;
}

/** Whether it is a {@link Float}, also one from a second copy of this package. */
export function isFloat(value: unknown): value is Float {
	return typeof value === "object" && value !== null && FLOAT in value;
}

/** A {@link Float} as the number of its value; anything else as it is. */
export function asNumber(value: unknown): unknown {
	return isFloat(value) ? value.value : value;
}
