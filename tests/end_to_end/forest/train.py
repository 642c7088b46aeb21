import argparse

from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold, cross_val_score, train_test_split
from sklearn.neural_network import MLPClassifier

from features import load


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--components", type=int, default=12)
    parser.add_argument("--trees", type=int, default=10)
    parser.add_argument("--test-size", type=float, default=0.25)
    args = parser.parse_args()

    x, y = load(args.components)
    x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=args.test_size, stratify=y)
    models = {
        "forest": RandomForestClassifier(n_estimators=args.trees, n_jobs=2),
        "sgd": SGDClassifier(loss="log_loss", max_iter=5, tol=None),
        "mlp": MLPClassifier((16,), max_iter=3, early_stopping=True),
    }
    for name, model in models.items():
        model.fit(x_train, y_train)
        print(name, repr(float(log_loss(y_test, model.predict_proba(x_test)))))
    folds = KFold(n_splits=3, shuffle=True)
    scores = cross_val_score(RandomForestClassifier(args.trees, max_depth=4), x_train, y_train, cv=folds)
    print("cross-validation", scores.tolist())


if __name__ == "__main__":
    main()
